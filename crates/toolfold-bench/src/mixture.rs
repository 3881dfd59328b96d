//! What mixtures of tools are made with. It needs nothing else, so that `xtask`, which stays small, compiles this very file.

/// A number as a word: every number has its own.
pub(crate) fn spelt(number: usize) -> String {
    let mut rest = number + 1;
    let mut word = String::new();
    while rest > 0 {
        word.push(char::from(b'a' + (rest % 26) as u8));
        rest /= 26;
    }
    word
}

/// Xorshift: the same run after run.
pub(crate) struct Chance(u64);

impl Default for Chance {
    fn default() -> Self {
        Chance(0x2545_f491_4f6c_dd1d)
    }
}

impl Chance {
    pub(crate) fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        &from[(self.0 % from.len() as u64) as usize]
    }
}
