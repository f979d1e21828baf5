// SPDX-License-Identifier: MIT
#include "collector/model/counts/counter_names.h"

#include <algorithm>
#include <iterator>

#include "base/by_name.h"

namespace warpmeter::model {
namespace {

constexpr CounterName names[] = {
    {"shared_load_wavefronts", AddressSpace::shared, AccessKind::load, &AccessCounts::transactions},
    {"shared_load_requests", AddressSpace::shared, AccessKind::load, &AccessCounts::requests},
    {"shared_store_wavefronts", AddressSpace::shared, AccessKind::store,
     &AccessCounts::transactions},
    {"shared_store_requests", AddressSpace::shared, AccessKind::store, &AccessCounts::requests},
    {"shared_atomic_wavefronts", AddressSpace::shared, AccessKind::atomic,
     &AccessCounts::transactions},
    {"shared_atomic_requests", AddressSpace::shared, AccessKind::atomic, &AccessCounts::requests},
    {"shared_matrix_load_wavefronts", AddressSpace::shared, AccessKind::load,
     &AccessCounts::transactions, Carrier::matrix},
    {"shared_matrix_load_requests", AddressSpace::shared, AccessKind::load, &AccessCounts::requests,
     Carrier::matrix},
    {"shared_matrix_store_wavefronts", AddressSpace::shared, AccessKind::store,
     &AccessCounts::transactions, Carrier::matrix},
    {"shared_matrix_store_requests", AddressSpace::shared, AccessKind::store,
     &AccessCounts::requests, Carrier::matrix},
    {"shared_wgmma_wavefronts", AddressSpace::shared, AccessKind::load, &AccessCounts::transactions,
     Carrier::product},
    {"shared_wgmma_requests", AddressSpace::shared, AccessKind::load, &AccessCounts::requests,
     Carrier::product},
    {"async_copy_requests", AddressSpace::global, AccessKind::load, &AccessCounts::requests,
     Carrier::copy},
    {"async_copy_bypass_requests", AddressSpace::global, AccessKind::load, &AccessCounts::requests,
     Carrier::copy, true},
    {"async_copy_sectors", AddressSpace::global, AccessKind::load, &AccessCounts::transactions,
     Carrier::copy},
    {"async_copy_bytes", AddressSpace::global, AccessKind::load, &AccessCounts::bytes,
     Carrier::copy},
    {"async_copy_wavefronts", AddressSpace::shared, AccessKind::store, &AccessCounts::transactions,
     Carrier::copy},
    {"async_copy_bypass_wavefronts", AddressSpace::shared, AccessKind::store,
     &AccessCounts::transactions, Carrier::copy, true},
    {"bulk_load_requests", AddressSpace::global, AccessKind::load, &AccessCounts::requests,
     Carrier::bulk},
    {"bulk_load_sectors", AddressSpace::global, AccessKind::load, &AccessCounts::transactions,
     Carrier::bulk},
    {"bulk_load_bytes", AddressSpace::global, AccessKind::load, &AccessCounts::bytes,
     Carrier::bulk},
    {"bulk_load_multicast_bytes", AddressSpace::shared, AccessKind::store, &AccessCounts::bytes,
     Carrier::bulk},
    {"bulk_store_requests", AddressSpace::global, AccessKind::store, &AccessCounts::requests,
     Carrier::bulk},
    {"bulk_store_sectors", AddressSpace::global, AccessKind::store, &AccessCounts::transactions,
     Carrier::bulk},
    {"bulk_store_bytes", AddressSpace::global, AccessKind::store, &AccessCounts::bytes,
     Carrier::bulk},
    {"bulk_reduction_requests", AddressSpace::global, AccessKind::reduction,
     &AccessCounts::requests, Carrier::bulk},
    {"bulk_reduction_sectors", AddressSpace::global, AccessKind::reduction,
     &AccessCounts::transactions, Carrier::bulk},
    {"bulk_reduction_bytes", AddressSpace::global, AccessKind::reduction, &AccessCounts::bytes,
     Carrier::bulk},
    {"distributed_shared_load_requests", AddressSpace::cluster, AccessKind::load,
     &AccessCounts::requests},
    {"distributed_shared_load_sectors", AddressSpace::cluster, AccessKind::load,
     &AccessCounts::transactions},
    {"distributed_shared_store_requests", AddressSpace::cluster, AccessKind::store,
     &AccessCounts::requests},
    {"distributed_shared_store_sectors", AddressSpace::cluster, AccessKind::store,
     &AccessCounts::transactions},
    {"distributed_shared_atomic_requests", AddressSpace::cluster, AccessKind::atomic,
     &AccessCounts::requests},
    {"distributed_shared_atomic_sectors", AddressSpace::cluster, AccessKind::atomic,
     &AccessCounts::transactions},
    {"distributed_shared_async_store_requests", AddressSpace::cluster, AccessKind::store,
     &AccessCounts::requests, Carrier::counted},
    {"distributed_shared_async_reduction_requests", AddressSpace::cluster, AccessKind::atomic,
     &AccessCounts::requests, Carrier::counted},
    {"distributed_shared_bulk_store_requests", AddressSpace::cluster, AccessKind::store,
     &AccessCounts::requests, Carrier::bulk},
    {"global_load_sectors", AddressSpace::global, AccessKind::load, &AccessCounts::transactions},
    {"global_load_requests", AddressSpace::global, AccessKind::load, &AccessCounts::requests},
    {"global_load_bytes", AddressSpace::global, AccessKind::load, &AccessCounts::bytes},
    {"global_store_sectors", AddressSpace::global, AccessKind::store, &AccessCounts::transactions},
    {"global_store_requests", AddressSpace::global, AccessKind::store, &AccessCounts::requests},
    {"global_store_bytes", AddressSpace::global, AccessKind::store, &AccessCounts::bytes},
    {"global_atomic_sectors", AddressSpace::global, AccessKind::atomic,
     &AccessCounts::transactions},
    {"global_atomic_requests", AddressSpace::global, AccessKind::atomic, &AccessCounts::requests},
    {"global_reduction_sectors", AddressSpace::global, AccessKind::reduction,
     &AccessCounts::transactions},
    {"global_reduction_requests", AddressSpace::global, AccessKind::reduction,
     &AccessCounts::requests},
};

}  // namespace

std::span<const CounterName> counter_names() { return names; }

const CounterName* find_counter_name(std::string_view name) {
  static const ByName<CounterName> by_name(counter_names(), &CounterName::name);
  return by_name.find(name);
}

AccessKind kind_in(const SiteInfo& site, AddressSpace space) {
  const bool one_kind = space != AddressSpace::global && site.kind == AccessKind::reduction;
  return one_kind ? AccessKind::atomic : site.kind;
}

Carrier counter_carrier(const SiteInfo& site) {
  return site.carrier == Carrier::copy ? Carrier::registers : site.carrier;
}

bool is_carried(const SiteInfo& site, const CounterName& counter) {
  // Hardware has no counter of its own for the sectors of asynchronous stores.
  if (counter.space == AddressSpace::cluster && counter.kind == AccessKind::store &&
      counter.count == &AccessCounts::transactions && site.carrier == Carrier::counted) {
    return true;
  }
  if (counter.carrier != Carrier::copy) return counter_carrier(site) == counter.carrier;
  return site.carrier == Carrier::copy && (site.bypasses_l1 || !counter.only_bypassing);
}

bool is_of_apart(const SiteInfo& site, const CounterName& counter) {
  if (counter.carrier == Carrier::copy) return site.kind == AccessKind::store;
  if (site.carrier == Carrier::counted) return counter.space == AddressSpace::cluster;
  return counter.carrier == Carrier::bulk;
}

}  // namespace warpmeter::model
