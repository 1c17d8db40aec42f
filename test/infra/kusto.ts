// Microsoft's own language service for Kusto (@kusto/language-service-next): the parser and the binder that the portal's query
// editor runs. It knows syntax, functions, types and, given the tables, every column. It runs no query.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { createContext, runInContext } from "node:vm";

/** As much of the package's C# collections and classes as is used here; it is compiled to JavaScript and has no modules. */
interface List<T> {
  readonly Count: number;
  getItem(at: number): T;
}
interface Column {
  readonly Name: string;
  readonly Type: { readonly Name: string };
}
interface Kusto {
  readonly Language: {
    readonly KustoCode: {
      ParseAndAnalyze(
        text: string,
        globals: unknown,
      ): {
        GetDiagnostics(): List<{ readonly Message: string; readonly Severity: string; readonly Start: number }>;
        readonly ResultType: { readonly Columns?: List<Column> } | null;
      };
    };
    readonly GlobalState: { readonly Default: { WithDatabase(database: unknown): unknown } };
    readonly Symbols: {
      readonly TableSymbol: { readonly From: (columns: string) => { WithName(name: string): unknown } };
      readonly DatabaseSymbol: { readonly ctor: new (name: string, tables: unknown) => unknown };
      readonly Symbol: unknown;
    };
  };
}
interface Bridge {
  readonly Array: { init(items: readonly unknown[], type: unknown): unknown };
}

let loaded: { readonly Kusto: Kusto; readonly System: Bridge } | undefined;

/** Once, and in a context of its own: the scripts define globals and extend built-in prototypes. */
function load() {
  if (loaded) return loaded;
  const main = createRequire(import.meta.url).resolve("@kusto/language-service-next/bridge.min.js");
  const context = createContext({ console });
  for (const name of ["bridge.min.js", "Kusto.Language.Bridge.min.js"]) {
    const filename = path.join(path.dirname(main), name);
    runInContext(readFileSync(filename, "utf8"), context, { filename });
  }
  loaded = context as { Kusto: Kusto; System: Bridge };
  return loaded;
}

const items = <T>(list: List<T>): T[] => Array.from({ length: list.Count }, (_, at) => list.getItem(at));

export type Tables = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** Reads queries over these tables and no others: what is wrong with each, and its columns as `name: type`. */
export function kustoReader(tables: Tables) {
  const { Kusto, System } = load();
  const { GlobalState, KustoCode, Symbols } = Kusto.Language;
  const symbols = Object.entries(tables).map(([name, columns]) => {
    const list = Object.entries(columns).map(([column, type]) => `${column}: ${type}`);
    return Symbols.TableSymbol.From(`(${list.join(", ")})`).WithName(name);
  });
  const database = new Symbols.DatabaseSymbol.ctor("workspace", System.Array.init(symbols, Symbols.Symbol));
  const globals = GlobalState.Default.WithDatabase(database);
  return (query: string): { readonly wrong: readonly string[]; readonly columns: readonly string[] } => {
    const code = KustoCode.ParseAndAnalyze(query, globals);
    const columns = code.ResultType?.Columns;
    return {
      wrong: items(code.GetDiagnostics()).map((one) => `${one.Severity} at ${one.Start}: ${one.Message}`),
      columns: columns ? items(columns).map((one) => `${one.Name}: ${one.Type.Name}`) : [],
    };
  };
}
