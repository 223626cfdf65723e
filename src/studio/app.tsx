/** The frame of the page: name, tabs, the matrix to look at, the model's state, and the view. */
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { ConfigurationBar } from './parts/configuration-bar.js';
import { KeepOffline } from './parts/keep-offline.js';
import { LinkNotice } from './parts/link-notice.js';
import { Masthead } from './parts/masthead.js';
import { MisfitNotice } from './parts/misfit-notice.js';
import { ModelNotice } from './parts/model-notice.js';
import { PrintItem } from './parts/print-item.js';
import { TAB_NAMES, TabBar } from './parts/tab-bar.js';
import { Footer } from './parts/footer.js';
import { matrix, settings, tab } from './state/store.js';
import type { Tab } from './state/settings.js';
import { session } from './state/test-session.js';
import { ExampleNote, Story } from './story/story.js';
import { Tour } from './tour/tour.js';
import { CompareView } from './views/compare/compare-view.js';
import { EraseView } from './views/erase/erase-view.js';
import { MakeView } from './views/make/make-view.js';
import { PlayView } from './views/play/play-view.js';
import { RulesView } from './views/rules/rules-view.js';
import { TestView } from './views/test/test-view.js';
import { TrainView } from './views/train/train-view.js';
import { WhyView } from './views/why/why-view.js';

const VIEWS: Readonly<Record<Tab, () => JSX.Element>> = {
  play: PlayView,
  erase: EraseView,
  why: WhyView,
  rules: RulesView,
  compare: CompareView,
  make: MakeView,
  test: TestView,
  train: TrainView,
};

export function App() {
  const name = tab.value;
  const View = VIEWS[name];
  const { phase } = session.value;
  // Who takes a test needs no other way to go.
  const isTesting = name === 'test' && (phase === 'practice' || phase === 'items');
  const isAboutMatrix = name !== 'train' && name !== 'test';
  useEffect(() => {
    document.title = `${TAB_NAMES[name][0]} · CRAB Studio`;
  }, [name]);
  return (
    <>
      <a class="skip" href="#view" onClick={skipToView}>
        Skip to the matrix
      </a>
      <Masthead />
      {settings.value.tour === 0 && !isTesting ? <Story /> : <div />}
      <TabBar />
      <main
        id="view"
        tabIndex={-1}
        class={`view view-${name} tour-${settings.value.tour}`}
        aria-busy={matrix.value.pending}
      >
        <Tour />
        {isAboutMatrix && settings.value.tour === 0 && <ConfigurationBar />}
        {!isTesting && <LinkNotice />}
        {settings.value.tour === 0 && <ExampleNote />}
        {isAboutMatrix && <ModelNotice />}
        {isAboutMatrix && <MisfitNotice />}
        <View />
        {isAboutMatrix && <PrintItem />}
      </main>
      <Footer />
      <KeepOffline />
    </>
  );
}

/** The part behind `#` holds the state; a jump must not replace it. */
function skipToView(event: Event): void {
  event.preventDefault();
  document.getElementById('view')?.focus();
}
