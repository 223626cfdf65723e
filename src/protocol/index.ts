/** What the page and the server of `crab studio` say to each other: types, and the addresses they go to. */
export * from './train-api.js';
export * from './zoo-index.js';
