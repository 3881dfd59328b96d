//! The engine: one script in one context. Its promises are driven from here: as long as there are jobs they are done, then
//! the next answer is waited for.

use std::cell::{Cell, RefCell};
use std::io;
use std::rc::Rc;

use rquickjs::context::EvalOptions;
use rquickjs::promise::PromiseState;
use rquickjs::{CatchResultExt, CaughtError, Context, Ctx, Function, Object, Promise, Runtime, Value};

use super::Outside;
use crate::limits::{AT_ONCE, LARGEST_RESULT, MOST_PRINTED, ScriptLimits};
use crate::processor;
use crate::protocol::{Begin, Said, SelfMade, Uncaught};

const PRELUDE: &str = include_str!("prelude.js");
/// Bytes of the stack that a script may use.
const STACK: usize = 1024 * 1024;
/// What is before a program on its first line, and then a brace or a parenthesis.
const BEFORE: &str = "(async (input) => {";
/// The name of the source in what an exception says of its place.
const SOURCE: &str = "script";

pub(super) fn run(begin: &Begin, outside: Outside) -> io::Result<()> {
    let outside = Rc::new(RefCell::new(outside));
    let said = told(begin, &outside);
    outside.borrow_mut().say_line(&said)
}

/// Runs it to its end; what is to be said of that.
fn told(begin: &Begin, outside: &Rc<RefCell<Outside>>) -> String {
    let over = Rc::new(Cell::new(false));
    let ended = engine(&begin.limits, &over).map(|(_, context)| {
        context.with(|ctx| Run { ctx, begin, outside: outside.clone(), over: over.clone() }.to_its_end())
    });
    let said = match ended {
        _ if over.get() => Said::Over(SelfMade::Cpu),
        Ok(Ok(line)) if line.len() > LARGEST_RESULT => Said::Over(SelfMade::Size),
        Ok(Ok(line)) => return line,
        Ok(Err(said)) => said,
        // There is not even room for an empty world.
        Err(_) => Said::Over(SelfMade::Memory),
    };
    serde_json::to_string(&said).unwrap_or_default()
}

fn engine(limits: &ScriptLimits, over: &Rc<Cell<bool>>) -> rquickjs::Result<(Runtime, Context)> {
    let runtime = Runtime::new()?;
    runtime.set_memory_limit(limits.memory);
    runtime.set_max_stack_size(STACK);
    let (over, end) = (over.clone(), processor::of_this_process() + limits.cpu);
    runtime.set_interrupt_handler(Some(Box::new(move || {
        over.set(over.get() || processor::of_this_process() >= end);
        over.get()
    })));
    let context = Context::full(&runtime)?;
    Ok((runtime, context))
}

struct Run<'a, 'js> {
    ctx: Ctx<'js>,
    begin: &'a Begin,
    outside: Rc<RefCell<Outside>>,
    over: Rc<Cell<bool>>,
}

/// What the prelude hands out.
struct Prelude<'js> {
    settle: Function<'js>,
    main: Function<'js>,
    uncaught: Function<'js>,
    is_waiting: Function<'js>,
}

impl<'js> Run<'_, 'js> {
    /// The last line, or what else is to be said.
    fn to_its_end(&self) -> Result<String, Said> {
        let prelude = self.prelude().map_err(|_| Said::Over(SelfMade::Memory))?;
        let program = self.program().map_err(|caught| self.failed(&prelude, caught))?;
        let started = self.start(&prelude, program).map_err(|caught| self.failed(&prelude, caught))?;
        loop {
            while !self.over.get() && self.ctx.execute_pending_job() {}
            if self.over.get() {
                return Err(Said::Over(SelfMade::Cpu));
            }
            match started.state() {
                PromiseState::Pending => self.wait(&prelude)?,
                PromiseState::Resolved => return self.returned(&started),
                PromiseState::Rejected => {
                    let caught = started.result::<Value>().map(|result| result.catch(&self.ctx));
                    let Some(Err(caught)) = caught else { return Err(Said::Over(SelfMade::Memory)) };
                    return Err(self.failed(&prelude, caught));
                }
            }
        }
    }

    fn prelude(&self) -> rquickjs::Result<Prelude<'js>> {
        let outside = self.outside.clone();
        let say = Function::new(self.ctx.clone(), move |line: String| {
            // Nobody there: the next wait ends the process.
            let _ = outside.borrow_mut().say_line(&line);
        })?;
        let limits = Object::new(self.ctx.clone())?;
        limits.set("MOST_PRINTED", MOST_PRINTED)?;
        limits.set("LARGEST", LARGEST_RESULT / 2)?;
        limits.set("AT_ONCE", AT_ONCE)?;
        let world: Function<'js> = self.eval(PRELUDE, "prelude")?;
        let made: Object<'js> = world.call((say, limits))?;
        Ok(Prelude {
            settle: made.get("settle")?,
            main: made.get("main")?,
            uncaught: made.get("uncaught")?,
            is_waiting: made.get("isWaiting")?,
        })
    }

    /// The source as a function: an expression's value is its answer, a body returns one.
    fn program(&self) -> Result<Function<'js>, CaughtError<'js>> {
        let code = plain(&self.begin.code);
        let expression = format!("(async (input) => ({}\n))", code.trim_end().trim_end_matches(';'));
        if let Ok(program) = self.eval(&expression, SOURCE).catch(&self.ctx) {
            return Ok(program);
        }
        self.eval(&format!("{BEFORE}{code}\n}})"), SOURCE).catch(&self.ctx)
    }

    fn eval(&self, source: &str, name: &str) -> rquickjs::Result<Function<'js>> {
        let mut options = EvalOptions::default();
        options.strict = false;
        options.filename = Some(name.to_owned());
        self.ctx.eval_with_options(source, options)
    }

    fn start(&self, prelude: &Prelude<'js>, program: Function<'js>) -> Result<Promise<'js>, CaughtError<'js>> {
        let input: Value<'js> = self.ctx.json_parse(self.begin.input.get()).catch(&self.ctx)?;
        self.ctx.globals().set("input", input.clone()).catch(&self.ctx)?;
        prelude.main.call((program, input)).catch(&self.ctx)
    }

    /// Waits for an answer and hands it to the script.
    fn wait(&self, prelude: &Prelude<'js>) -> Result<(), Said> {
        let waits: bool = prelude.is_waiting.call(()).unwrap_or(false);
        if !waits {
            return Err(Said::Over(SelfMade::Stuck));
        }
        let line = self.outside.borrow_mut().line();
        let Ok(Some(line)) = line else { std::process::exit(1) };
        let settled: Result<(), _> = prelude.settle.call((line,)).catch(&self.ctx);
        settled.map_err(|caught| self.failed(prelude, caught))
    }

    fn returned(&self, started: &Promise<'js>) -> Result<String, Said> {
        let value = started.result::<Option<String>>();
        match value {
            Some(Ok(value)) => {
                // The value is JSON already: it is not read again only to be written again.
                Ok(format!("{{\"returned\":{}}}", value.as_deref().unwrap_or("null")))
            }
            _ => Err(Said::Over(SelfMade::Memory)),
        }
    }

    /// What there is to say of an exception that nobody caught.
    fn failed(&self, prelude: &Prelude<'js>, caught: CaughtError<'js>) -> Said {
        if self.over.get() {
            return Said::Over(SelfMade::Cpu);
        }
        let thrown = match caught {
            CaughtError::Exception(exception) => exception.into_value(),
            CaughtError::Value(value) => value,
            // Text of the host that the engine cannot take: a zero byte, say.
            CaughtError::Error(error) => {
                return Said::Threw(Uncaught {
                    name: "Error".into(),
                    message: error.to_string(),
                    ..Uncaught::default()
                });
            }
        };
        // Where there is no room for an exception, null is thrown.
        if thrown.is_null() || is_out_of_memory(&thrown) {
            return Said::Over(SelfMade::Memory);
        }
        let line: Result<String, _> = prelude.uncaught.call((thrown,));
        let mut said = line.ok().and_then(|line| serde_json::from_str(&line).ok());
        if let Some(Said::Threw(Uncaught { line: Some(1), column: Some(column), .. })) = &mut said {
            *column = column.saturating_sub(BEFORE.len() as u32);
        }
        said.unwrap_or_else(|| if self.over.get() { Said::Over(SelfMade::Cpu) } else { Said::Over(SelfMade::Memory) })
    }
}

fn is_out_of_memory(thrown: &Value<'_>) -> bool {
    let message = thrown.as_object().and_then(|object| object.get::<_, String>("message").ok());
    let name = thrown.as_object().and_then(|object| object.get::<_, String>("name").ok());
    message.as_deref() == Some("out of memory") && name.as_deref() == Some("InternalError")
}

/// The program inside what models put around it: a fence of Markdown, an `export default`.
fn plain(code: &str) -> &str {
    let code = code.trim_start_matches('\u{feff}').trim();
    let fenced = code.strip_prefix("```").and_then(|rest| {
        let (_, body) = rest.split_once('\n')?;
        body.trim_end().strip_suffix("```")
    });
    let code = fenced.unwrap_or(code).trim();
    code.strip_prefix("export default ").unwrap_or(code)
}
