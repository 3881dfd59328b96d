//! Units and how they relate. Each kind has a base unit; a unit is so many of it, and temperatures also start elsewhere.

use crate::problem::{Problem, told};

#[derive(Debug)]
pub(crate) struct Unit {
    pub(crate) kind: &'static str,
    pub(crate) name: &'static str,
    aliases: &'static [&'static str],
    factor: f64,
    offset: f64,
}

impl Unit {
    pub(crate) fn convert(&self, value: f64, to: &Unit) -> f64 {
        (value * self.factor + self.offset - to.offset) / to.factor
    }
}

/// A unit by its name, in any spelling that is listed. Case counts only where it must: mb is a megabyte, but Mb a megabit.
pub(crate) fn find(key: &str, name: &str) -> Result<&'static Unit, Problem> {
    let name = name.trim();
    let is = |unit: &&Unit, same: fn(&str, &str) -> bool| {
        same(unit.name, name) || unit.aliases.iter().any(|alias| same(alias, name))
    };
    let loosely = |a: &str, b: &str| a.eq_ignore_ascii_case(b) || format!("{a}s").eq_ignore_ascii_case(b);
    let found =
        UNITS.iter().find(|unit| is(unit, |a, b| a == b)).or_else(|| UNITS.iter().find(|unit| is(unit, loosely)));
    found.ok_or_else(|| {
        let kinds = KINDS.map(|kind| format!("{kind}: {}", of(kind))).join("; ");
        told!("`{key}` is {name:?}, which is not a known unit. Known are {kinds}.")
    })
}

/// The names of a kind's units.
pub(crate) fn of(kind: &str) -> String {
    UNITS.iter().filter(|unit| unit.kind == kind).map(|unit| unit.name).collect::<Vec<_>>().join(" ")
}

const KINDS: [&str; 11] =
    ["length", "mass", "temperature", "volume", "area", "speed", "time", "data", "energy", "pressure", "angle"];

const fn unit(kind: &'static str, name: &'static str, aliases: &'static [&'static str], factor: f64) -> Unit {
    Unit { kind, name, aliases, factor, offset: 0.0 }
}

const fn degree(name: &'static str, aliases: &'static [&'static str], factor: f64, offset: f64) -> Unit {
    Unit { kind: "temperature", name, aliases, factor, offset }
}

#[rustfmt::skip] // A table is read in columns.
static UNITS: [Unit; 66] = [
    unit("length", "m", &["meter", "metre"], 1.0),
    unit("length", "km", &["kilometer", "kilometre"], 1e3),
    unit("length", "cm", &["centimeter", "centimetre"], 1e-2),
    unit("length", "mm", &["millimeter", "millimetre"], 1e-3),
    unit("length", "µm", &["um", "micrometer", "micron"], 1e-6),
    unit("length", "nm", &["nanometer"], 1e-9),
    unit("length", "in", &["inch", "inches", "\""], 0.0254),
    unit("length", "ft", &["foot", "feet", "'"], 0.3048),
    unit("length", "yd", &["yard"], 0.9144),
    unit("length", "mi", &["mile"], 1609.344),
    unit("length", "nmi", &["nautical mile"], 1852.0),
    unit("mass", "kg", &["kilogram"], 1.0),
    unit("mass", "g", &["gram"], 1e-3),
    unit("mass", "mg", &["milligram"], 1e-6),
    unit("mass", "t", &["tonne", "metric ton"], 1e3),
    unit("mass", "lb", &["lbs", "pound"], 0.453_592_37),
    unit("mass", "oz", &["ounce"], 0.028_349_523_125),
    unit("mass", "st", &["stone"], 6.350_293_18),
    degree("K", &["kelvin"], 1.0, 0.0),
    degree("°C", &["c", "celsius", "degc"], 1.0, 273.15),
    degree("°F", &["f", "fahrenheit", "degf"], 5.0 / 9.0, 459.67 * 5.0 / 9.0),
    unit("volume", "l", &["liter", "litre"], 1.0),
    unit("volume", "ml", &["milliliter", "millilitre"], 1e-3),
    unit("volume", "m³", &["m3", "cubic meter"], 1e3),
    unit("volume", "gal", &["gallon", "us gallon"], 3.785_411_784),
    unit("volume", "pt", &["pint", "us pint"], 0.473_176_473),
    unit("volume", "cup", &["us cup"], 0.236_588_236_5),
    unit("volume", "floz", &["fl oz", "fluid ounce"], 0.029_573_529_562_5),
    unit("area", "m²", &["m2", "square meter"], 1.0),
    unit("area", "km²", &["km2", "square kilometer"], 1e6),
    unit("area", "ha", &["hectare"], 1e4),
    unit("area", "acre", &["ac"], 4_046.856_422_4),
    unit("area", "ft²", &["ft2", "sqft", "square foot", "square feet"], 0.092_903_04),
    unit("speed", "m/s", &["mps"], 1.0),
    unit("speed", "km/h", &["kmh", "kph"], 1.0 / 3.6),
    unit("speed", "mph", &["mi/h"], 0.447_04),
    unit("speed", "kn", &["knot"], 1852.0 / 3600.0),
    unit("time", "s", &["sec", "second"], 1.0),
    unit("time", "ms", &["millisecond"], 1e-3),
    unit("time", "min", &["minute"], 60.0),
    unit("time", "h", &["hr", "hour"], 3600.0),
    unit("time", "d", &["day"], 86_400.0),
    unit("time", "wk", &["week"], 604_800.0),
    unit("data", "B", &["byte"], 1.0),
    unit("data", "bit", &["b"], 0.125),
    unit("data", "kB", &["kilobyte"], 1e3),
    unit("data", "MB", &["megabyte"], 1e6),
    unit("data", "GB", &["gigabyte"], 1e9),
    unit("data", "TB", &["terabyte"], 1e12),
    unit("data", "KiB", &["kibibyte"], 1024.0),
    unit("data", "MiB", &["mebibyte"], 1_048_576.0),
    unit("data", "GiB", &["gibibyte"], 1_073_741_824.0),
    unit("data", "Mb", &["Mbit", "megabit"], 125_000.0),
    unit("energy", "J", &["joule"], 1.0),
    unit("energy", "kJ", &["kilojoule"], 1e3),
    unit("energy", "kWh", &["kilowatt hour"], 3.6e6),
    unit("energy", "cal", &["calorie"], 4.184),
    unit("energy", "kcal", &["kilocalorie"], 4184.0),
    unit("pressure", "Pa", &["pascal"], 1.0),
    unit("pressure", "hPa", &["mbar", "hectopascal"], 100.0),
    unit("pressure", "bar", &[], 1e5),
    unit("pressure", "atm", &["atmosphere"], 101_325.0),
    unit("pressure", "psi", &[], 6_894.757_293_168_361),
    unit("angle", "rad", &["radian"], 1.0),
    unit("angle", "deg", &["°", "degree"], std::f64::consts::PI / 180.0),
    unit("angle", "turn", &["revolution"], 2.0 * std::f64::consts::PI),
];
