// docs/verdicts.md as it must be: each kind of rejection with an example that is judged here and now.
import { readFileSync } from "node:fs";
import path from "node:path";
import { format, resolveConfig } from "prettier";
import { explainVerdict } from "../../src/trust/explain.ts";
import type { GoRelease, Rejection, VerifyInput } from "../../src/trust/verdict.ts";
import { verifyServed } from "../../src/trust/verify.ts";

interface Kind {
  /** When Go says it. */
  readonly when: string;
  /** Where Go says it: file and function, below `src` of its repository. */
  readonly source: string;
  /** The recorded case that is shown (test/corpora/trust.json, found-by-fuzzing.json), and the release it is judged as. */
  readonly example: string;
  readonly go?: GoRelease;
}

/** In the order in which Go comes to them. */
const kinds: Readonly<Record<Rejection["kind"], Kind>> = {
  "bundle-unparsable": {
    when: "The bundle holds no PEM block of a certificate. The API server then builds no client, and every call fails before it dials.",
    source: "k8s.io/client-go/transport/transport.go, rootCertPool; crypto/x509/cert_pool.go, AppendCertsFromPEM",
    example: "handmade/E5",
  },
  "bundle-empty": {
    when: "There is no bundle, so Go asks the roots of the API server's own system. For a name that ends in `.svc` none of them can vouch.",
    source: "crypto/x509/verify.go, Verify",
    example: "handmade/E7",
  },
  "chain-too-long": {
    when: "The certificates of the handshake take more bytes than Go reads of one message.",
    source: "crypto/tls/conn.go, readHandshake; common.go, maxHandshake and maxHandshakeCertificateMsg",
    example: "chain-too-long",
  },
  "chain-unparsable": {
    when: "A served certificate is not the DER that Go demands, which is more than OpenSSL does.",
    source: "crypto/x509/parser.go, parseCertificate; crypto/tls/handshake_client.go, verifyServerCertificate",
    example: "handmade/K1d",
  },
  "rsa-key-too-large": {
    when: "A served certificate has an RSA key of more than 8192 bits.",
    source: "crypto/tls/handshake_client.go, verifyServerCertificate, maxRSAKeySize",
    example: "handmade/F14",
  },
  "unsupported-public-key": {
    when: "The leaf's key is neither RSA nor ECDSA nor Ed25519.",
    source: "crypto/tls/handshake_client.go, verifyServerCertificate",
    example: "limbo/webpki::forbidden-dsa-leaf",
  },
  "refused-public-key": {
    when: "The leaf's key is of a kind that Go knows, and too weak or too odd for it.",
    source: "crypto/rsa/rsa.go, checkPublicKeySize; crypto/tls/auth.go, verifyHandshakeSignature",
    example: "fuzz/7-690",
  },
  "unhandled-critical-extension": {
    when: "A certificate of the path has a critical extension that Go does not know.",
    source: "crypto/x509/verify.go, isValid",
    example: "handmade/C13",
  },
  expired: {
    when: "The leaf, or a CA on its path, has expired at the time of the handshake.",
    source: "crypto/x509/verify.go, isValid",
    example: "handmade/D2",
  },
  "not-yet-valid": {
    when: "The same, before its time: mostly a clock that is wrong.",
    source: "crypto/x509/verify.go, isValid",
    example: "handmade/D3",
  },
  "wrong-name": {
    when: "No subject alternative name fits the name that the API server verifies.",
    source: "crypto/x509/verify.go, VerifyHostname and HostnameError",
    example: "handmade/D7",
  },
  "legacy-common-name": {
    when: "There is no alternative name at all, and the common name, where Go does not look, would have fitted.",
    source: "crypto/x509/verify.go, HostnameError",
    example: "handmade/G1",
  },
  "no-issuer-in-bundle": {
    when: "Nothing in the bundle bears the issuer's name.",
    source: "crypto/x509/verify.go, buildChains; cert_pool.go, findPotentialParents",
    example: "handmade/D11",
  },
  "same-name-other-key": {
    when: "Something in the bundle bears the issuer's name and has another key: two generations of a self-signed certificate, or a CA that was made anew. This is the drift.",
    source: "crypto/x509/verify.go, buildChains (the hint); x509.go, CheckSignatureFrom",
    example: "handmade/B5",
  },
  "issuer-cannot-sign": {
    when: "What bears the issuer's name may not sign certificates.",
    source: "crypto/x509/x509.go, CheckSignatureFrom",
    example: "handmade/C1",
  },
  "already-in-chain": {
    when: "What bears the issuer's name has the leaf's name, key and alternative names, and is another certificate: Go takes it for the leaf itself.",
    source: "crypto/x509/verify.go, alreadyInChain",
    example: "handmade/B3",
  },
  "insecure-algorithm": {
    when: "The signature is one that Go no longer trusts, such as SHA-1.",
    source: "crypto/x509/x509.go, checkSignature",
    example: "handmade/J4b",
  },
  "unsupported-algorithm": {
    when: "The signature is one that Go cannot check.",
    source: "crypto/x509/x509.go, checkSignature",
    example: "handmade/X3",
  },
  "not-a-ca": {
    when: "An issuer between leaf and bundle is a certificate of version 1 or 2, which says nothing of being a CA.",
    source: "crypto/x509/verify.go, isValid",
    example: "handmade/C7",
  },
  "path-too-long": {
    when: "There are more CAs below a CA than it allows.",
    source: "crypto/x509/verify.go, isValid",
    example: "handmade/C11",
  },
  "incompatible-key-usage": {
    when: "A certificate of the path lists extended key usages without serverAuth.",
    source: "crypto/x509/verify.go, checkChainForKeyUsage",
    example: "handmade/H1",
  },
  "name-constraint": {
    when: "A CA of the path may not issue for a name of the leaf.",
    source: "crypto/x509/verify.go, checkNameConstraints; since 1.26 constraints.go",
    example: "handmade/I7",
  },
  "invalid-policies": {
    when: "The certificate policies along the path do not fit one another (since Go 1.24).",
    source: "crypto/x509/verify.go, policiesValid",
    example: "handmade/N1",
  },
  "signature-limit-reached": {
    when: "Go gave up after a hundred signatures: too many certificates of one name.",
    source: "crypto/x509/verify.go, maxChainSignatureChecks",
    example: "limbo/pathological::pathological-chain-same-subject-same-key",
  },
  "go-panic": {
    when: "An issuer of the leaf's name has a key that Go cannot compare with the leaf's: the API server's request ends in a panic.",
    source: "crypto/x509/verify.go, alreadyInChain",
    example: "fuzz/7-1436",
    go: "1.19",
  },
};

export const kindNames = Object.keys(kinds) as Rejection["kind"][];

interface Case {
  readonly id: string;
  readonly caBundle?: string;
  readonly caBundleBase64?: string;
  readonly chain: readonly string[];
  readonly serverName: string;
  readonly time: string;
}

const read = (...name: string[]): readonly Case[] =>
  JSON.parse(readFileSync(path.join(import.meta.dirname, ...name), "utf8")) as readonly Case[];
const cases = [...read("..", "corpora", "trust.json"), ...read("found-by-fuzzing.json")];

function inputFor({ example, go = "1.26" }: Kind): VerifyInput {
  const found = cases.find(({ id }) => id === (example === "chain-too-long" ? "handmade/D11" : example));
  if (found === undefined) throw new Error(`there is no case ${example}`);
  const bytes = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, "base64"));
  const served = found.chain.map(bytes);
  const leaf = served.at(0) ?? new Uint8Array();
  return {
    caBundle: found.caBundle === undefined ? bytes(found.caBundleBase64 ?? "") : Buffer.from(found.caBundle),
    // The same leaf until it is more than a handshake takes.
    chain: example === "chain-too-long" ? Array.from({ length: Math.ceil(300_000 / leaf.length) }, () => leaf) : served,
    serverName: found.serverName,
    at: new Date(found.time),
    go,
  };
}

function section(name: Rejection["kind"]): string {
  const kind = kinds[name];
  const input = inputFor(kind);
  const verdict = verifyServed(input);
  if (verdict.outcome !== "broken" || verdict.cause.kind !== name) {
    throw new Error(`${kind.example} is not ${name}: ${JSON.stringify(verdict)}`);
  }
  const context = { serves: "the pod serves", bundle: "the bundle", serverName: input.serverName };
  const { sentence, todo } = explainVerdict(verdict, context);
  const example = kind.example === name ? "" : ` (\`${kind.example}\`)`;
  return `## ${name}

${kind.when}

Go ${input.go}${example}:

\`\`\`
${verdict.goText.length > 600 ? `${verdict.goText.slice(0, 600)}…` : verdict.goText}
\`\`\`

fleetmend: ${sentence}

What to do: ${todo}

Source: ${kind.source}.
`;
}

/** The whole page, formatted as the project formats. Throws where an example is not what it is to show. */
export async function verdictsPage(): Promise<string> {
  const text = `# Why the API server refuses a certificate

Each kind of rejection that fleetmend tells apart, in the order in which Go comes to it: when it is said, what Go prints, what
fleetmend says of it, and where in Go's sources the rule stands. The examples are of the corpora that the tests run, and this page
is made from them (\`test/trust/verdicts-page.ts\`); \`npx vitest run test/trust/verdicts.test.ts -u\` writes it anew.

A text is what the API server prints after \`Post "…": \`; a \`bundle-unparsable\` stands after \`could not get REST client: \`.
Go 1.19 prints a verification's errors without \`tls: failed to verify certificate: \`. Which release an API server was built
with stands in \`goVersion\` of \`kubectl get --raw /version\`.

${kindNames.map(section).join("\n")}`;
  const config = await resolveConfig(path.join(import.meta.dirname, "..", "..", "docs", "verdicts.md"));
  return format(text, { ...config, parser: "markdown" });
}
