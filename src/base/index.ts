/** What every layer needs and no layer owns. Runs in a browser and in Node. */
export * from './philox.js';
