// How Azure Resource Manager throttles: token buckets by kind of call, and storms on order. Not here: the answer (arm.ts).

export type ArmCall = "list" | "get" | "credentials";

export interface Throttle {
  /** Seconds to wait, for Retry-After; undefined where the call may pass. `scope` is what the bucket is kept for. */
  retryAfter(call: ArmCall, scope: string): number | undefined;
  /** The next `calls` are throttled, whatever the buckets hold. */
  storm(calls: number, retryAfterSeconds: number): void;
}

interface Bucket {
  tokens: number;
  at: number;
}

// Burst and refill per second of the AKS resource provider (Microsoft Learn, "Throttling limits on AKS resource provider
// APIs"): LIST for a subscription, GET for a cluster, and all other calls for a subscription and region.
const limits: Readonly<Record<ArmCall, { readonly burst: number; readonly perSecond: number }>> = {
  list: { burst: 500, perSecond: 1 },
  get: { burst: 60, perSecond: 1 },
  credentials: { burst: 60, perSecond: 1 },
};

/** Full buckets as in Azure; with `unlimited` only storms throttle. */
export function createThrottle(now: () => Date, unlimited: boolean): Throttle {
  const buckets = new Map<string, Bucket>();
  let storm = { calls: 0, seconds: 0 };
  return {
    retryAfter(call, scope) {
      if (storm.calls > 0) {
        storm = { ...storm, calls: storm.calls - 1 };
        return storm.seconds;
      }
      return unlimited ? undefined : takeToken(buckets, call, { scope, at: now().getTime() });
    },
    storm(calls, seconds) {
      storm = { calls, seconds };
    },
  };
}

function takeToken(
  buckets: Map<string, Bucket>,
  call: ArmCall,
  { scope, at }: { readonly scope: string; readonly at: number },
): number | undefined {
  const { burst, perSecond } = limits[call];
  const key = `${call} ${scope}`;
  const bucket = buckets.get(key) ?? { tokens: burst, at };
  bucket.tokens = Math.min(burst, bucket.tokens + ((at - bucket.at) / 1000) * perSecond);
  bucket.at = at;
  buckets.set(key, bucket);
  if (bucket.tokens < 1) return Math.ceil((1 - bucket.tokens) / perSecond);
  bucket.tokens -= 1;
  return undefined;
}
