/** A feed that is rejected as a whole, without any change. The message is for the operator. */
export class FeedError extends Error {}
