import { defineConfig } from "vitest/config";

// The tests that need nothing but Node. What needs the real API server is in vitest.cluster.config.ts.
export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    exclude: ["test/cluster/**", "node_modules/**"],
    testTimeout: 20_000,
  },
});
