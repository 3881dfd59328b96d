//! Likeness by meaning: a vector for each node and one for each of its phrases.

use toolfold_core::words;

use super::described::Described;
use crate::semantic::{Vector, model};

/// How much of what all nodes have in common is taken out of each.
const CENTRED: f32 = 0.5;

/// By the number of the node.
#[derive(Debug)]
pub(super) struct Meanings(Vec<Option<NodeMeaning>>);

#[derive(Debug)]
pub(super) struct NodeMeaning {
    pub(super) whole: Vector,
    pub(super) phrases: Vec<Vector>,
}

impl Meanings {
    pub(super) fn of(nodes: &[Described]) -> Meanings {
        let phrases: Vec<Vec<Vec<f32>>> =
            nodes.iter().map(|node| node.phrases.iter().map(|phrase| direction(phrase)).collect()).collect();
        let wholes: Vec<Vec<f32>> = phrases.iter().map(|phrases| unit(sum(phrases))).collect();
        let common = common(&wholes);
        let meaning = |(phrases, whole): (&Vec<Vec<f32>>, &Vec<f32>)| {
            (!phrases.is_empty()).then(|| NodeMeaning {
                whole: without(whole, &common),
                phrases: phrases.iter().map(|phrase| without(phrase, &common)).collect(),
            })
        };
        Meanings(phrases.iter().zip(&wholes).map(meaning).collect())
    }

    pub(super) fn of_node(&self, node: usize) -> Option<&NodeMeaning> {
        self.0[node].as_ref()
    }

    /// The nodes that something can be placed in.
    pub(super) fn candidates(&self) -> impl Iterator<Item = (usize, &NodeMeaning)> {
        self.0.iter().enumerate().filter_map(|(node, meaning)| Some((node, meaning.as_ref()?)))
    }
}

/// The direction of a text, of length one unless nothing in it is known.
fn direction(text: &str) -> Vec<f32> {
    model().meaning(&words::split(text)).to_floats()
}

fn common(wholes: &[Vec<f32>]) -> Vec<f32> {
    let count = wholes.iter().filter(|whole| whole.iter().any(|x| *x != 0.0)).count().max(1) as f32;
    sum(wholes).iter().map(|x| CENTRED * x / count).collect()
}

fn without(direction: &[f32], common: &[f32]) -> Vector {
    let rest: Vec<f32> = direction.iter().zip(common).map(|(x, common)| x - common).collect();
    Vector::new(&rest)
}

fn sum(directions: &[Vec<f32>]) -> Vec<f32> {
    let mut sum = vec![0.0; model().dimensions];
    for direction in directions {
        sum.iter_mut().zip(direction).for_each(|(total, x)| *total += x);
    }
    sum
}

fn unit(mut direction: Vec<f32>) -> Vec<f32> {
    let length = direction.iter().map(|x| x * x).sum::<f32>().sqrt();
    if length > 0.0 {
        direction.iter_mut().for_each(|x| *x /= length);
    }
    direction
}
