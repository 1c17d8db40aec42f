// What packages that were written for CommonJS expect to find, and an ES module does not have: for the head of each file that
// esbuild writes.
export const commonJsBanner = `import { createRequire as createRequireOfBundle } from "node:module";
const require = createRequireOfBundle(import.meta.url), { filename: __filename, dirname: __dirname } = import.meta;`;
