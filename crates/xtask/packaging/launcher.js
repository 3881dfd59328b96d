#!/usr/bin/env node
// Starts the binary of the package for this platform. `place.js` has put the binary itself here where it could, so this file
// runs only where packages may not run anything when they are installed.
"use strict";
const { spawn } = require("node:child_process");
const { binary } = require("../binary.js");

const child = spawn(binary(), process.argv.slice(2), { stdio: "inherit" });
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.on("error", (error) => {
  console.error(`error: ${error.message}`);
  process.exit(3);
});
child.on("exit", (code, signal) => (signal ? process.kill(process.pid, signal) : process.exit(code)));
