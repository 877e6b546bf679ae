/**
 * Charts out of sight are drawn when they come into sight, or when paper or a picture needs them: with fourteen charts on
 * a page, each step of a pan would else draw many that are not seen.
 */

const outOfSight = new WeakSet<Element>();
/** How to draw what has changed meanwhile. */
const waiting = new Map<Element, () => void>();

const observer = new IntersectionObserver(
  (entries) => {
    for (const { target, isIntersecting } of entries) {
      if (!isIntersecting) outOfSight.add(target);
      else {
        outOfSight.delete(target);
        drawNow(target);
      }
    }
  },
  // A chart is drawn before its edge is seen.
  { rootMargin: '200px' },
);
window.addEventListener('beforeprint', drawAll);

/** Watches the place of a chart; the returned function ends it. Until it is known, the chart counts as seen. */
export function watchSight(place: Element): () => void {
  observer.observe(place);
  return () => {
    observer.unobserve(place);
    waiting.delete(place);
  };
}

/** Draws at once, or when the place comes into sight, and then only what was asked for last. */
export function drawInSight(place: Element, draw: () => void): void {
  waiting.set(place, draw);
  if (!outOfSight.has(place)) drawNow(place);
}

/** Draws all that waits; the charts have it when the next microtask runs. */
export function drawAll(): void {
  for (const place of [...waiting.keys()]) drawNow(place);
}

function drawNow(place: Element): void {
  const draw = waiting.get(place);
  waiting.delete(place);
  draw?.();
}
