// The lab's OSMO in this process, and a transport to it that notes each request and can fail: what tests of the client and
// of rotation share. The answers are those of src/lab/osmo, which test/lab compares with the real services.
import type { OsmoOptions } from "../../src/lab/osmo/api-world.ts";
import { startWithDefaultAdmin } from "../../src/lab/osmo/default-admin.ts";
import { createOsmoApi as createLabOsmo, type OsmoApi as LabOsmo } from "../../src/lab/osmo/osmo-api.ts";
import { createOsmoDatabase, hashOf, insertToken } from "../../src/lab/osmo/osmo-tables.ts";
import type { OsmoRelease } from "../../src/lab/osmo/release.ts";
import { createOsmoApi } from "../../src/osmo/create-osmo-api.ts";
import type { Exchange, OsmoAdmin, OsmoApi } from "../../src/osmo/osmo-api.ts";
import type { OsmoAnswer, OsmoRequest, OsmoTransport, TransportFailure } from "../../src/osmo/osmo-transport.ts";
import { secretText, type SecretText } from "../../src/osmo/secret-text.ts";
import { failure, success } from "../../src/result.ts";

/** Instead of the answer; `after` lets OSMO act first, as a lost answer does. */
export interface Fault {
  readonly when: "before" | "after";
  readonly answer: Partial<OsmoAnswer> | TransportFailure;
}

export const password = "adminPassword0123456789adminPassword0123456";

export class LabWorld {
  time: Date;
  readonly lab: LabOsmo;
  readonly requests: OsmoRequest[] = [];
  /** Asked before each request. */
  fault: (request: OsmoRequest, number: number) => Fault | undefined = () => undefined;
  /** Around each request: may throw, to end the process there. */
  around: (act: () => Promise<void>) => Promise<void> = (act) => act();

  private constructor(time: Date, lab: (now: () => Date) => LabOsmo) {
    this.time = time;
    this.lab = lab(() => this.time);
  }

  static async start(release: OsmoRelease, options: Partial<OsmoOptions> = {}): Promise<LabWorld> {
    const database = await createOsmoDatabase();
    const lab = (now: () => Date): LabOsmo => createLabOsmo({ release, database, now, ...options });
    const world = new LabWorld(new Date("2026-12-01T06:00:00Z"), lab);
    if (release === "6.0") world.insert("first-admin", "first-admin", password, ["osmo-admin"]);
    else startWithDefaultAdmin(world.lab, { username: "admin", password });
    return world;
  }

  /** A token as somebody else has made it. */
  insert(userName: string, tokenName: string, value: string, roles: string[], expiresOn = "2027-02-01"): void {
    insertToken(this.lab.world.database, {
      userName,
      tokenName,
      hash: hashOf(value),
      expiresOn,
      description: "",
      roles,
    });
  }

  readonly transport: OsmoTransport = {
    where: "the lab",
    request: async (request) => {
      this.requests.push(request);
      const fault = this.fault(request, this.requests.length);
      let answer: OsmoAnswer | undefined;
      await this.around(async () => {
        if (fault?.when !== "before") answer = await this.#act(request);
      });
      if (fault !== undefined && "kind" in fault.answer) return failure(fault.answer);
      if (fault !== undefined) return success({ status: 500, headers: {}, body: "", ...fault.answer });
      if (answer === undefined) throw new Error("a request without a fault has an answer");
      return success(answer);
    },
  };

  async #act({ method, path, headers, body = "" }: OsmoRequest): Promise<OsmoAnswer> {
    const { contentType, ...answer } = await this.lab.handle({ method, path, headers, body });
    return { ...answer, headers: { "content-type": contentType } };
  }

  async open(): Promise<OsmoApi> {
    const result = await createOsmoApi(this.transport, { sleep: () => Promise.resolve() });
    if (!result.ok) throw new Error(result.error.message);
    return result.value;
  }

  async admin(token: SecretText = secretText(password)): Promise<OsmoAdmin> {
    const osmo = await this.open();
    return osmo.as(good(await osmo.exchange(token)));
  }
}

export function good(exchange: Exchange): Extract<Exchange, { exchange: "good" }> {
  if (exchange.exchange !== "good") throw new Error(`the token is ${exchange.exchange}`);
  return exchange;
}
