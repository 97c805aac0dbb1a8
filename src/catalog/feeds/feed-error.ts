/** A feed that is refused as a whole; nothing has changed. The message is for the operator. */
export class FeedError extends Error {}
