// What the lab's API server says at `GET /version`: the release that the contract scenarios compare the lab with.

export const version = {
  major: "1",
  minor: "37",
  gitVersion: "v1.37.2",
  gitTreeState: "clean",
  goVersion: "go1.26.8",
  compiler: "gc",
  platform: "linux/amd64",
} as const satisfies Readonly<Record<string, string>>;
