/** A picture of all charts of a page, one below the other, with their titles. */

const titleHeight = 30;
const margin = 16;

export async function pictureOf(page: Document, title: string): Promise<Blob> {
  const charts = [...page.querySelectorAll('.chart')].flatMap((chart) => {
    const canvas = chart.querySelector('canvas');
    const lead = [chart.querySelector('.chart-lead'), chart.querySelector('h2')];
    const name = lead.map((element) => element?.textContent ?? '').filter((text) => text !== '');
    return canvas === null ? [] : [{ canvas, name: name.join(' · ') }];
  });
  const ratio = page.defaultView?.devicePixelRatio ?? 1;
  const head = titleHeight * ratio;
  const edge = margin * ratio;
  const picture = page.createElement('canvas');
  picture.width = Math.max(...charts.map(({ canvas }) => canvas.width)) + 2 * edge;
  picture.height = charts.reduce((sum, { canvas }) => sum + canvas.height + head, head + 2 * edge);
  const context = picture.getContext('2d');
  if (context === null) throw new Error('This browser cannot draw the picture.');
  const style = getComputedStyle(page.documentElement);
  const colour = (name: string) => style.getPropertyValue(name).trim();
  context.fillStyle = colour('--surface');
  context.fillRect(0, 0, picture.width, picture.height);
  context.fillStyle = colour('--ink');
  context.textBaseline = 'middle';
  const write = (text: string, size: number, top: number) => {
    context.font = `600 ${size * ratio}px ${colour('--font')}`;
    context.fillText(text, edge, top + head / 2);
  };
  write(title, 17, edge);
  let top = edge + head;
  for (const { canvas, name } of charts) {
    write(name, 13, top);
    context.drawImage(canvas, edge, top + head);
    top += head + canvas.height;
  }
  return new Promise((resolve, reject) => {
    picture.toBlob((blob) =>
      blob === null ? reject(new Error('The picture is too large.')) : resolve(blob),
    );
  });
}
