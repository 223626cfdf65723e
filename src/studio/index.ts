/** What others may import from the page: the wire types it shares with the server, nothing else. */
export * from './train-api.js';
export * from './zoo-index.js';
