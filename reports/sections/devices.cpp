// SPDX-License-Identifier: MIT
// The cards of a run side by side: how long each takes for what all of them ran, and which one is
// off. A card's figure is the median, over its launches, of its time as a share of the cards'
// median for that launch, so that no single launch and no single card decides. A card is off when
// it is further from the median card than three times the usual distance (1.4826 × the median
// absolute deviation, which is the standard deviation where the rest is noise) and than 2 %. Two
// cards that differ cannot say which of them is off.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "base/statistics.h"
#include "reports/disturbances.h"
#include "reports/sections/sections.h"
#include "reports/sql/sql.h"

namespace warpmeter::reports::sections {
namespace {

constexpr double least_distance = 0.02;
constexpr double distances = 3, deviation_of_mad = 1.4826;

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return median_of_sorted(values);
}

struct Card {
  std::int64_t id = 0;
  std::string title, uuid;
  std::vector<double> shares;  ///< the shares of the cards' median, a launch each
  double share = 1;            ///< their median
};

using LaunchKey = std::tuple<std::string, std::string, std::int64_t, std::string, std::string>;

/// Those that were timed on launches which another card ran too.
std::vector<Card> cards_of(const Source& source) {
  std::map<LaunchKey, std::map<std::size_t, std::vector<double>>> times;
  std::vector<Card> cards;
  std::map<std::int64_t, std::size_t> known;
  const schema::Rows rows = source.reader.query(sql::cards, run_parameter(source.run.id));
  for (const Row& row : each_row(rows)) {
    const std::int64_t id = row.integer("device_id").value_or(0);
    const auto [place, is_new] = known.try_emplace(id, cards.size());
    if (is_new) cards.push_back({id, row.text("title"), row.text("uuid"), {}, 1});
    times[{row.text("family"), row.text("variant"), row.integer("size").value_or(0),
           row.text("grid"), row.text("block")}][place->second]
        .push_back(row.number("median_ns").value_or(0));
  }
  for (const auto& [launch, by_card] : times) {
    if (by_card.size() < 2) continue;
    std::vector<double> medians;
    for (const auto& [card, all] : by_card) medians.push_back(median_of(all));
    const double middle = median_of(medians);
    if (middle <= 0) continue;
    for (const auto& [card, all] : by_card) cards[card].shares.push_back(median_of(all) / middle);
  }
  std::erase_if(cards, [](const Card& card) { return card.shares.empty(); });
  for (Card& card : cards) card.share = median_of(card.shares);
  return cards;
}

std::string verdict_of(const Card& card, const std::vector<Card>& cards) {
  std::vector<double> shares, deviations;
  for (const Card& each : cards) shares.push_back(each.share);
  const double middle = median_of(shares);
  for (const double share : shares) deviations.push_back(std::abs(share - middle));
  if (cards.size() == 2) {
    const double apart = std::abs(cards[0].share - cards[1].share);
    return apart > least_distance ? "they differ: two cannot say which is off" : "like the other";
  }
  const double limit =
      std::max(least_distance, distances * deviation_of_mad * median_of(deviations));
  if (std::abs(card.share - middle) <= limit) return "like the others";
  return fmt::format("off: {:.1f} % {}", 100 * std::abs(card.share - middle),
                     card.share > middle ? "slower" : "faster");
}

}  // namespace

void add_devices(Document& document, const Source& source) {
  if (source.run.devices.size() < 2) return;
  const std::vector<Card> cards = cards_of(source);
  if (cards.size() < 2) return;
  document.heading(2, "Devices");
  document.paragraph(
      "Time is a card's as a share of the cards' median for the same launch, the median of its "
      "launches. A card is off when it is further from the median card than 2 % and than three "
      "times what the cards usually differ by (1.4826 times the median absolute deviation).");
  Table table;
  table.columns = {Column::text("device"), Column::text("uuid", "UUID"),
                   Column::number("launches", "launches compared", "", Kind::count),
                   Column::number("time", "time", "% of the median", Kind::reading),
                   Column::text("verdict")};
  std::vector<Disturbance> disturbances = disturbances_of(source.reader, source.run.id);
  std::erase_if(disturbances, [](const Disturbance& one) { return !one.is_felt; });
  if (!disturbances.empty()) table.columns.push_back(Column::text("disturbed", "disturbed by"));
  for (const Card& card : cards) {
    table.rows.push_back({card.title, card.uuid.empty() ? Cell(Missing{}) : Cell(card.uuid),
                          static_cast<std::int64_t>(card.shares.size()), 100 * card.share,
                          verdict_of(card, cards)});
    if (disturbances.empty()) continue;
    std::string text;
    for (const Disturbance& one : disturbances) {
      if (one.device_id == card.id) text += (text.empty() ? "" : "; ") + one.text;
    }
    table.rows.back().push_back(text.empty() ? Cell(Missing{}) : Cell(text));
  }
  document.table(std::move(table));
}

}  // namespace warpmeter::reports::sections
