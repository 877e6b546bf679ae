/** Some browsers name the language of a machine without one as `C`, which `Intl` and so the charts refuse. */
export function mendLanguage(): void {
  try {
    new Intl.NumberFormat(navigator.language);
  } catch {
    Object.defineProperty(navigator, 'language', { value: 'en-GB', configurable: true });
  }
}
