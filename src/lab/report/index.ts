/** Report pages: one model, and all of a zoo beside the paper's tables. */
export { drawModel, writeFigures, writeReport, type ReportOptions } from './report.js';
export { reportZoo, type ZooOptions, type ZooReport } from './zoo.js';
