// Reads Bicep files with tree-sitter's grammar: what is declared, what is used, what is handed over. It is a parser, not the
// compiler: resource types and their properties are not known to it.
import { globSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { Language, Parser, type Node } from "web-tree-sitter";

export const infra = path.join(import.meta.dirname, "../../infra");
export const bicepFiles = globSync("**/*.bicep", { cwd: infra })
  .map((name) => name.replaceAll("\\", "/"))
  .toSorted();

const resolve = createRequire(import.meta.url).resolve;
await Parser.init();
const language = await Language.load(resolve("tree-sitter-bicep/tree-sitter-bicep.wasm"));

export function parse(text: string): Node {
  const parser = new Parser();
  parser.setLanguage(language);
  const tree = parser.parse(text);
  if (!tree) throw new Error("the parser gave no tree");
  return tree.rootNode;
}

export const read = (name: string): string => readFileSync(path.join(infra, name), "utf8");
export const tree = (name: string): Node => parse(read(name));

/** The node and all below it of these types, in the order of the text. */
export const all = (node: Node, ...types: string[]): Node[] =>
  node.descendantsOfType(types).filter((one) => one !== null);

const children = (node: Node): Node[] => node.namedChildren.filter((one) => one !== null);

export interface Declaration {
  readonly kind: "param" | "var" | "resource" | "module" | "output";
  readonly name: string;
  readonly node: Node;
  /** Of a resource or module: its type or path. */
  readonly source: string;
  /** Of a param: whether it has a value of its own. Of a resource or module: whether it stands under an `if`. */
  readonly optional: boolean;
}

const kinds: Readonly<Record<string, Declaration["kind"]>> = {
  parameter_declaration: "param",
  variable_declaration: "var",
  resource_declaration: "resource",
  module_declaration: "module",
  output_declaration: "output",
};

export function declarations(root: Node): Declaration[] {
  return children(root).flatMap((node) => {
    const kind = kinds[node.type];
    const parts = children(node);
    if (kind === undefined) return [];
    const value = parts.at(-1);
    return [
      {
        kind,
        name: parts[0]?.text ?? "",
        node,
        source: kind === "resource" || kind === "module" ? textOf(parts[1]) : "",
        optional: kind === "param" ? value?.type !== "type" : value?.type === "if_statement",
      },
    ];
  });
}

/** A string without its quotes; interpolations as written. */
export const textOf = (node: Node | undefined): string => (node?.text ?? "").replaceAll(/^'|'$/g, "");

/** The value of a property, at any depth, the first one of that name. */
export function property(node: Node, name: string): Node | undefined {
  const found = all(node, "object_property").find((one) => textOf(children(one)[0]) === name);
  return found && children(found)[1];
}

/** The values of all properties of that name. */
export const properties = (node: Node, name: string): Node[] =>
  all(node, "object_property")
    .filter((one) => textOf(children(one)[0]) === name)
    .flatMap((one) => children(one)[1] ?? []);

export const keys = (node: Node | undefined): string[] =>
  node === undefined
    ? []
    : children(node)
        .filter((one) => one.type === "object_property")
        .map((one) => textOf(children(one)[0]));

/** Names that stand for a value: not a property's key, not a declaration's name, not a function's. */
export function usedNames(root: Node): string[] {
  return all(root, "identifier")
    .filter((node) => {
      const parent = node.parent;
      if (!parent) return false;
      const isFirst = parent.namedChild(0)?.id === node.id;
      if (isFirst && (parent.type === "object_property" || parent.type in kinds)) return false;
      if (isFirst && parent.type === "lambda_expression") return false;
      // A name with a parenthesis behind it is a function's; the grammar does not say so in every place.
      return !root.text.startsWith("(", node.endIndex);
    })
    .map((node) => node.text);
}

/** Names that a loop or a lambda brings with it. */
export function boundNames(root: Node): string[] {
  const loops = all(root, "for_statement").flatMap((loop) => {
    const first = loop.childForFieldName("initializer") ?? loop.namedChild(0);
    return first?.type === "for_loop_parameters" ? children(first).map((one) => one.text) : (first?.text ?? []);
  });
  return [...loops, ...all(root, "lambda_expression").flatMap((one) => one.namedChild(0)?.text ?? [])];
}
