/** Figures: pure functions from measured data to SVG. */
export { answerSelectionFigure } from './answer-selection.js';
export type { SelectionCandidate, SelectionExample } from './answer-selection.js';
export { arbitraryPositionsFigure } from './arbitrary-positions.js';
export type { CompletedExample, Completion } from './arbitrary-positions.js';
export { conceptsFigure, type ConceptRow, type ConceptsData } from './concepts.js';
export { toSvg, type Drawing, type Figure } from './drawing.js';
export { gsaFigure, gsaWays, type GsaSeries } from './gsa.js';
export { rasterize, type RasterOptions } from './raster.js';
export { domainOf, ruleMapsFigure } from './rule-maps.js';
export type { Point, RuleMapRow, RuleMapsData } from './rule-maps.js';
export { ruleAgreementFigure } from './rule-agreement.js';
export { rulePriorFigure, type RuleCluster, type RulePriorData } from './rule-prior.js';
export { ruleTitle, trueRule, type TrueRule } from './rules.js';
export { colour, paletteCss, THEMES, withTheme, type Theme } from './theme.js';
export { trainingFigure } from './training.js';
export { attributesFigure, DOUBTFUL, itemMapFigure, scoresFigure } from './grading.js';
export type { AttributeBar, ItemPoint, ScoresData } from './grading.js';
export { itemChoicesFigure, type ItemChoices } from './item-choices.js';
