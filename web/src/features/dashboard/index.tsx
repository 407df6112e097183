import { DashboardPage } from './DashboardPage';
import { Feed, watchAddress } from './feed';

/**
 * Makes the page with one feed for as long as the app is open; the feed is connected while the page is shown. `base` is the coordinator's
 * address.
 */
export function createDashboardPage(base: string) {
  const feed = new Feed(watchAddress(base));
  return function LiveDashboardPage() {
    return <DashboardPage feed={feed} base={base} />;
  };
}
