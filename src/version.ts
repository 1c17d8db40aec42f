// fleetmend's version, as package.json has it (a test compares them): a bundle has no package.json of ours beside it.

export const version = "0.1.0";
