// Where the binary is: in the package for this platform, which npm has chosen among the optional ones.
"use strict";
exports.binary = () => {
  const name = `@toolfold/${process.platform}-${process.arch}`;
  try {
    return require.resolve(`${name}/bin/toolfold`);
  } catch {
    console.error(`error: there is no package ${name} here\n\nhint: npm leaves it out with --no-optional; Toolfold is built for linux-x64`);
    process.exit(3);
  }
};
