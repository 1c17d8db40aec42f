// Lets a second terminal type into a running `npm run cluster`: a loopback endpoint whose port and token stand in a file
// that only the user can read.
import { randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import path from "node:path";

interface Endpoint {
  readonly port: number;
  readonly token: string;
}

const fileIn = (folder: string): string => path.join(folder, "control.json");

/** Answers lines with `run`, until the returned function is called. */
export async function listenForLines(folder: string, run: (line: string) => Promise<string>): Promise<() => void> {
  const token = randomBytes(16).toString("hex");
  const server = createServer((request, response) => {
    if (request.headers.authorization !== `Bearer ${token}`) {
      response.writeHead(401).end();
      return;
    }
    const line = decodeURIComponent(request.url?.slice(1) ?? "");
    void run(line).then((answer) => response.end(answer));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("a TCP server without a port");
  mkdirSync(folder, { recursive: true });
  const endpoint: Endpoint = { port: address.port, token };
  writeFileSync(fileIn(folder), JSON.stringify(endpoint), { mode: 0o600 });
  return () => {
    server.closeAllConnections();
    server.close();
    rmSync(fileIn(folder), { force: true });
  };
}

/** The answer of the running cluster, or undefined where none runs. */
export async function sendLine(folder: string, line: string): Promise<string | undefined> {
  try {
    const { port, token } = JSON.parse(readFileSync(fileIn(folder), "utf8")) as Endpoint;
    const url = `http://127.0.0.1:${port}/${encodeURIComponent(line)}`;
    const answer = await fetch(url, { headers: { authorization: `Bearer ${token}` } });
    return answer.ok ? await answer.text() : undefined;
  } catch {
    // No file, or a file that a killed cluster left behind: nothing runs.
    return undefined;
  }
}
