/** Apart from the code that writes Parquet, whose library is loaded only if it is needed. */

/** Problems of a shard, its three parts together; about 15 MB. */
export const SHARD_PROBLEMS = 1000;
