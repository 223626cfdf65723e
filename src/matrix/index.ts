/** Raven's matrices as data: make, draw, solve, read and write them. Runs in a browser and in Node. */
// What this layer's functions take and throw, for those who use it alone.
export {
  ArgumentError,
  blobSource,
  CrabError,
  FormatError,
  memorySource,
  type BlobLike,
  type ByteSource,
} from '../base/index.js';
export * from './attributes.js';
export * from './attribute-columns.js';
export { SHEET_COLOURS } from './colours.js';
export { HUMAN_ACCURACY, HUMAN_AVERAGE, RAVEN_ORDER } from './human-accuracy.js';
export * from './layouts.js';
export { MESH, MESH_SLOT_NAMES, showsMesh } from './mesh.js';
export * from './problem.js';
export { freePlan, type ComponentPlan, type Plan, type RowStart } from './plan.js';
export * from './random.js';
export * from './rules.js';
export * from './rule-parameters.js';
export {
  samplePanels,
  sampleProblem,
  type CompleteMatrix,
  type PanelRequest,
  type ProblemRequest,
} from './sampling.js';
export { entityMask, realBoundingBox } from './mask.js';
export {
  downscale,
  IMAGE_PIXELS,
  PAPER,
  renderPanelPlainly,
  scaleInto,
  SMALL_PIXELS,
  SMALL_SIZE,
  type ImageSide,
} from './render.js';
export { IMAGE_SIZE } from './render-entity.js';
export {
  drawInto,
  PROBLEM_IMAGES,
  render64Into,
  Renderer,
  renderInto,
  renderMatrix64Into,
  renderPanel,
  renderPanel64,
  renderProblem,
  renderProblemInto,
  type ProblemImages,
  type RendererOptions,
} from './render-panel.js';
export { findConfiguration, type FoundConfiguration } from './configuration-finder.js';
export { FigureFinder, type FinderOptions, type ReadFigures } from './figure-finder.js';
export { sectionOf, blackIn, type SeenFigure } from './picture-section.js';
export { inkOf } from './figure-form.js';
export { ProblemReader } from './problem-reader.js';
export { PanelReader, type ReadComponent, type ReadPanel } from './panel-reader.js';
export * from './resize.js';
export * from './task-views.js';
export { panelsOf, type ProblemPanels } from './problem-panels.js';
export * from './symbolic.js';
export { arrangements, maskSlots, slotMask } from './slots.js';
export * from './i-raven-x.js';
export * from './json.js';
export * from './text.js';
export * from './validation.js';
export * from './describe.js';
export { startRefusal } from './start-values.js';
export { brokenRules, editProblem, type PanelEdit } from './edit-panels.js';
export { arithmeticRows } from './arithmetic-rows.js';
export { constraintsOfRules, parseConstraints, splitOf } from './constraints.js';
export { REGIME_NAMES, REGIMES, type Regime, type RegimeName, type Split } from './regimes.js';
export {
  decodeNpy,
  encodeNpy,
  unicodeArray,
  type NpyArray,
  type NpyData,
  type NpyHeader,
} from './npy.js';
export { NpzFile, readNpz, writeNpz, type NpzArray } from './npz.js';
export {
  decodePng,
  encodePng,
  greyByte,
  isPng,
  luma,
  overPaper,
  type GreyImage,
  type Picture,
  type PictureLimits,
} from './png.js';
export { decodeJpeg } from './jpeg.js';
export { decodePicture, isPicture, isSvg, PICTURE_FILE } from './picture.js';
export {
  decodeRavenNpz,
  encodeRavenNpz,
  parseRavenFileName,
  partOf,
  PARTS,
  ravenFileName,
  type Part,
  type RavenArrays,
} from './raven-file.js';
export {
  metaMatrix,
  META_STRUCTURE_LENGTH,
  META_TARGET_LENGTH,
  metaStructure,
  metaTarget,
  structureNames,
  type NamedRule,
} from './raven-structure.js';
export { parseRavenXml, type RavenXmlOptions } from './raven-xml.js';
export { formatRavenXml } from './raven-xml-write.js';
export {
  batches,
  encodeSet,
  imagesToBatch,
  joinBatches,
  MATRIX_PIXELS,
  openSetFrom,
  problemIntoBatch,
  problemToBatch,
  SELECTION_PIXELS,
  type ProblemSource,
  type SetBatch,
} from './set.js';
export {
  formatLabel,
  isComplete,
  labelText,
  parseLabel,
  type Label,
  type LabelRule,
} from './set-label.js';
export {
  ALSO_RIGHT_COLUMN,
  ANSWER_COLUMNS,
  answerRow,
  csvLine,
  itemName,
  layoutName,
  layoutNamed,
} from './item.js';
export {
  contactSheet,
  contactSheetOfImages,
  type ContactSheetOptions,
  type ProblemPictures,
} from './render-sheet.js';
export { escapeXml, panelSvgGroup, problemToSvg, renderSvg, type SvgOptions } from './svg.js';
export {
  layOutItem,
  type Item,
  type ItemOptions,
  type PlacedPanel,
  type PlacedText,
} from './svg-item.js';
export {
  OUTLINE_WIDTH,
  panelShapes,
  STRUCTURE_LINE_WIDTH,
  type CircleShape,
  type LineShape,
  type PanelShape,
  type PolygonShape,
} from './svg-shapes.js';
export { worksheetPdf, type WorksheetItem } from './pdf-item.js';
export { Board, greySquare } from './board.js';
export { benchPicture, benchTiles } from './bench-picture.js';
export { perceptionQuestions, type PerceptionQuestion } from './perception.js';
export {
  LETTERS,
  OPTION_COUNTS,
  optionIndices,
  vlmItem,
  withCandidates,
  type Letter,
  type OptionCount,
  type VlmItem,
} from './vlm-item.js';
