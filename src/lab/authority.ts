// A certificate authority of the lab: what it certifies is served by the lab's own TLS servers, never by KAI's pods. ECDSA
// throughout, which costs a millisecond where RSA costs a tenth of a second.
import { mintCertificate, type MintOptions } from "../trust/mint.ts";

/** PEM, as node:tls takes it. */
export interface ServingCertificate {
  readonly cert: string;
  readonly key: string;
}

export interface Authority {
  readonly caPem: string;
  /** For a server of these names and addresses. */
  certify(names: Pick<MintOptions, "dnsNames" | "ipAddresses">): Promise<ServingCertificate>;
  /** For a client that logs in with a certificate: the common name is the user, the organization its group. */
  certifyClient(user: string, group: string): Promise<ServingCertificate>;
}

const hour = 3_600_000;
const tenYears = 10 * 365 * 24 * hour;

/** Valid from an hour before `at` for ten years, as is all that it certifies. */
export async function createAuthority(name: string, at: Date): Promise<Authority> {
  const validity = { notBefore: new Date(at.getTime() - hour), notAfter: new Date(at.getTime() + tenYears) };
  const issuer = await mintCertificate({ subject: name, ca: true, keyUsage: ["keyCertSign"], ...validity });
  return {
    caPem: issuer.pem,
    async certify({ dnsNames = [], ipAddresses = [] }) {
      const subject = dnsNames[0] ?? "kube-apiserver";
      // A common name holds 64 characters; who verifies reads the alternative names only.
      const leaf = await mintCertificate({
        subject: subject.slice(0, 64),
        issuer,
        dnsNames,
        ipAddresses,
        extendedKeyUsage: ["serverAuth"],
        ...validity,
      });
      return { cert: leaf.pem, key: leaf.keyPem };
    },
    async certifyClient(user, group) {
      const subject = [
        { type: "O", value: group },
        { type: "CN", value: user },
      ];
      const leaf = await mintCertificate({ subject, issuer, extendedKeyUsage: ["clientAuth"], ...validity });
      return { cert: leaf.pem, key: leaf.keyPem };
    },
  };
}
