/** The thread that writes one large checkpoint. What goes wrong ends it, and reaches who started it. */
import { workerData } from 'node:worker_threads';
import { writeChecked, type TensorFile } from './checkpoint.js';

writeChecked(workerData as TensorFile);
