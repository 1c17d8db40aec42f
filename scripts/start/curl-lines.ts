// What `npm start` offers to paste; the README shows the same lines with their answers. They expect `url`, `key` and `master`.

/** One for each thing that the app can be asked, as the README has them. */
export function curlLines(cluster: string): readonly string[] {
  const withKey = '-H "x-functions-key: $key"';
  const asJson = '-H "content-type: application/json"';
  return [
    'curl -s "$url/api/health"',
    `curl -s "$url/api/fleet" ${withKey}`,
    `curl -s "$url/api/clusters/${cluster}" ${withKey}`,
    `curl -s -X POST "$url/api/clusters/${cluster}/scan?wait=60" ${withKey}`,
    `curl -s -X POST "$url/api/clusters/${cluster}/repair?dryRun=true&wait=60" ${withKey}`,
    `curl -s -X POST "$url/api/clusters/${cluster}/repair?wait=120" ${withKey}`,
    `curl -s -X POST "$url/admin/functions/scanFleet" -H "x-functions-key: $master" ${asJson} -d "{}"`,
    `curl -s "$url/runtime/webhooks/eventgrid?functionName=clusterChanged&code=$master" -H "aeg-event-type: SubscriptionValidation" -d '[{"data":{"validationCode":"512d38b6"}}]'`,
  ];
}
