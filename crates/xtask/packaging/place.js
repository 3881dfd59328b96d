// After installing: puts the binary in the launcher's place, so that a stdio server has no second process in front of it.
// Whatever goes wrong, the launcher is still there and works.
"use strict";
const fs = require("node:fs");
const path = require("node:path");
try {
  const from = require.resolve(`@toolfold/${process.platform}-${process.arch}/bin/toolfold`);
  const launcher = path.join(__dirname, "bin", "toolfold");
  const beside = `${launcher}.new`;
  fs.rmSync(beside, { force: true });
  try {
    fs.linkSync(from, beside);
  } catch {
    fs.copyFileSync(from, beside);
  }
  fs.chmodSync(beside, 0o755);
  fs.renameSync(beside, launcher);
} catch {}
