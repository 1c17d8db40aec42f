// Thrown to the trigger on purpose: the queue shall deliver the message again. Everything else that is thrown is a defect.

export class TryAgain extends Error {
  override readonly name = "TryAgain";
}
