// One type-aware linter. Every rule that is switched off or on beside the presets says why.
import tseslint from "typescript-eslint";

export default tseslint.config(
  { ignores: ["node_modules/", "dist/", "out/", ".cache/", "coverage/", "test/cluster/controlplane/"] },
  tseslint.configs.strictTypeChecked,
  tseslint.configs.stylisticTypeChecked,
  {
    languageOptions: {
      parserOptions: { projectService: { allowDefaultProject: ["eslint.config.js", "scripts/*.mjs"] } },
    },
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: {
      // A union that grows must break every switch over it.
      "@typescript-eslint/switch-exhaustiveness-check": ["error", { considerDefaultExhaustiveForUnions: true }],
      // Counts and numbers read well in templates; everything else must be formatted on purpose.
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
      // `type` for unions, `interface` for shapes: the preset's rule says the same.
      "@typescript-eslint/consistent-type-definitions": ["error", "interface"],
      // A leading underscore names a parameter that an interface asks for and we do not need.
      "@typescript-eslint/no-unused-vars": ["error", { argsIgnorePattern: "^_" }],
      eqeqeq: "error",
      "no-restricted-syntax": [
        "error",
        {
          selector: "ExportAllDeclaration",
          message: "No barrel files: import the file that has what you need (docs: style, barrels).",
        },
        {
          selector: "CallExpression[callee.object.name='vi'][callee.property.name='mock'] > Literal[value=/^\\./]",
          message: "Our own modules are never mocked. Use the lab, or pass the interface's other implementation.",
        },
      ],
    },
  },
  {
    files: ["eslint.config.js", "scripts/*.mjs"],
    extends: [tseslint.configs.disableTypeChecked],
  },
);
