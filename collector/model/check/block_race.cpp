#include "collector/model/check/block_race.h"

namespace warpmeter::model::check {

std::optional<BlockRace> BlockRaces::access(const GlobalAccess& access) {
  std::optional<BlockRace> race;
  const Event event{access.block, access.instruction};
  const auto against = [&](const Event& other, bool other_writes) {
    if (race || other.block == none || other.block == access.block) return;
    race = BlockRace{other.block, other.instruction, other_writes};
  };
  const std::uint64_t first = (access.address + word_bytes - 1) / word_bytes;
  const std::uint64_t end = (access.address + access.width) / word_bytes;
  for (std::uint64_t index = first; index < end; ++index) {
    const auto known = pages_.find(index / words_of_page);
    if (known == pages_.end() && pages_.size() >= most_pages) return race;
    Page& page =
        known != pages_.end()
            ? *known->second
            : *pages_.emplace(index / words_of_page, std::make_unique<Page>()).first->second;
    Word& word = page[index % words_of_page];
    if (!access.writes) {
      against(word.write, true);
      if (word.first_read.block == none) word.first_read = event;
      word.last_read = event;
    } else if (!access.changes) {
      // Blocks that write the same, a flag for example, do not disturb each other.
      word.same_write = event;
    } else {
      for (const Event& other : {word.write, word.same_write}) against(other, true);
      for (const Event& other : {word.first_read, word.last_read}) against(other, false);
      word.write = event;
    }
  }
  return race;
}

}  // namespace warpmeter::model::check
