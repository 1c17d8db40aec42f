// IP ranges of name constraints, as Go's net.IPNet treats them.
import { type IpAddress, formatIp, toIpv4 } from "./ip-address.ts";
import type { IpRange } from "./name-constraints.ts";

/** Address and mask as net.IPNet sees them: an IPv4-mapped range is an IPv4 range (networkNumberAndMask). */
function normalize({ address, mask }: IpRange): IpRange {
  const mapped = toIpv4(address);
  if (mapped === undefined) return { address, mask };
  return { address: mapped, mask: mask.length === 16 ? mask.subarray(12) : mask };
}

/** (*net.IPNet).Contains. */
export function contains(range: IpRange, address: IpAddress): boolean {
  return isIn(toIpv4(address) ?? address, normalize(range));
}

/** Whether an address of the same length lies in a range, mapped addresses not being special. */
export function isIn(address: IpAddress, range: IpRange): boolean {
  return (
    address.length === range.address.length &&
    address.every((byte, at) => ((byte ^ (range.address[at] ?? 0)) & (range.mask[at] ?? 0)) === 0)
  );
}

/** (*net.IPNet).String: CIDR, the address as it was given. */
export function formatRange(range: IpRange): string {
  const { address, mask } = normalize(range);
  const bits = [...mask].reduce((sum, byte) => sum + byte.toString(2).replaceAll("0", "").length, 0);
  return `${formatIp(address)}/${bits}`;
}
