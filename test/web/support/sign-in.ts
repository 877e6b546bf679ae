import type { Page } from 'playwright-core';

/** Opens an address and signs in on the form that is shown in its place. */
export async function signInAs(
  page: Page,
  address: string,
  person: { readonly username: string; readonly password: string },
): Promise<void> {
  await page.goto(address);
  await page.getByLabel('Username').fill(person.username);
  await page.getByLabel('Password').fill(person.password);
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
}
