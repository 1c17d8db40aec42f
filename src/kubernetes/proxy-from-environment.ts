// Which proxy of the environment a server is reached through, as kubectl decides it. Nothing is read but the arguments.
import { BlockList, isIP, isIPv6 } from "node:net";

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The proxy's URL for `server`, or undefined for a direct connection: HTTPS_PROXY or HTTP_PROXY by the server's scheme,
 * in capitals first, unless NO_PROXY names the host; loopback is never proxied. The rules are those of Go's
 * golang.org/x/net/http/httpproxy (ProxyFunc, useProxy), which kubectl uses. Not checked: that the proxy's URL is one.
 */
export function proxyFromEnvironment(server: string, environment: Environment): string | undefined {
  if (!URL.canParse(server)) return undefined;
  const { protocol, hostname, port } = new URL(server);
  const proxy = protocol === "https:" ? either(environment, "HTTPS_PROXY") : either(environment, "HTTP_PROXY");
  if (proxy === undefined) return undefined;
  const host = hostname.replace(/^\[|\]$/g, "").toLowerCase();
  const effectivePort = port || (protocol === "https:" ? "443" : "80");
  if (isLoopback(host) || isExempt(host, effectivePort, either(environment, "NO_PROXY") ?? "")) return undefined;
  return proxy.includes("://") ? proxy : `http://${proxy}`;
}

function either(environment: Environment, name: string): string | undefined {
  return [environment[name], environment[name.toLowerCase()]].find((value) => value !== undefined && value !== "");
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."));
}

function isExempt(host: string, port: string, noProxy: string): boolean {
  return noProxy
    .split(",")
    .map((entry) => entry.trim().toLowerCase())
    .filter((entry) => entry !== "")
    .some((entry) => entry === "*" || matches(host, port, entry));
}

function matches(host: string, port: string, entry: string): boolean {
  const [address = "", prefix] = entry.split("/");
  if (prefix !== undefined) return isIP(host) !== 0 && isIP(address) !== 0 && isInSubnet(host, address, Number(prefix));
  const { name, onPort } = splitPort(entry);
  if (onPort !== undefined && onPort !== port) return false;
  if (isIP(host) !== 0 || isIP(name) !== 0) return host === name;
  // "example.com" means the host and everything below it; ".example.com" and "*.example.com" only what is below.
  const below = name.replace(/^\*?\./, "");
  return host.endsWith(`.${below}`) || (below === name && host === name);
}

function isInSubnet(host: string, address: string, prefix: number): boolean {
  if (
    isIP(host) !== isIP(address) ||
    !Number.isInteger(prefix) ||
    prefix < 0 ||
    prefix > (isIPv6(address) ? 128 : 32)
  ) {
    return false;
  }
  const family = isIPv6(address) ? "ipv6" : "ipv4";
  const subnet = new BlockList();
  subnet.addSubnet(address, prefix, family);
  return subnet.check(host, family);
}

function splitPort(entry: string): { readonly name: string; readonly onPort?: string } {
  if (isIPv6(entry)) return { name: entry };
  const match = /^(.*):(\d+)$/.exec(entry);
  const name = (match?.[1] ?? entry).replace(/^\[|\]$/g, "");
  return match?.[2] === undefined ? { name } : { name, onPort: match[2] };
}
