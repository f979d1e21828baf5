// Streams that wait for values in memory, and write them.
#include <cstddef>

#include "collector/runtime/driver_call.h"
#include "collector/runtime/stream_values.h"
#include "collector/runtime/submit.h"

namespace warpmeter::runtime {
namespace {

CUresult submit_values(Process& process, CUstream stream,
                       std::vector<CUstreamBatchMemOpParams> operations) {
  if (process.stream(stream) == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  const CUresult mistake = values_mistake(process, operations);
  if (mistake != CUDA_SUCCESS) return mistake;
  return as_driver_error(submit(process, stream, ValuesWork{std::move(operations), 0}));
}

/// One wait or write; both kinds of parameters lie alike.
CUresult submit_value(std::string_view name, CUstream stream, CUstreamBatchMemOpType type,
                      CUdeviceptr address, cuuint64_t value, unsigned flags) {
  return driver_call(name, Needs::context, [&](Process& p) {
    CUstreamBatchMemOpParams operation{};
    operation.waitValue.operation = type;
    operation.waitValue.address = address;
    operation.waitValue.value64 = value;
    operation.waitValue.flags = flags;
    return submit_values(p, stream, {operation});
  });
}
static_assert(offsetof(CUstreamBatchMemOpParams, waitValue.value64) ==
                  offsetof(CUstreamBatchMemOpParams, writeValue.value64) &&
              offsetof(CUstreamBatchMemOpParams, waitValue.flags) ==
                  offsetof(CUstreamBatchMemOpParams, writeValue.flags));

}  // namespace

namespace api {
namespace {

CUresult cuStreamWaitValue32_v2(CUstream stream, CUdeviceptr address, cuuint32_t value,
                                unsigned flags) {
  return submit_value("cuStreamWaitValue32", stream, CU_STREAM_MEM_OP_WAIT_VALUE_32, address, value,
                      flags);
}
CUresult cuStreamWaitValue64_v2(CUstream stream, CUdeviceptr address, cuuint64_t value,
                                unsigned flags) {
  return submit_value("cuStreamWaitValue64", stream, CU_STREAM_MEM_OP_WAIT_VALUE_64, address, value,
                      flags);
}
CUresult cuStreamWriteValue32_v2(CUstream stream, CUdeviceptr address, cuuint32_t value,
                                 unsigned flags) {
  return submit_value("cuStreamWriteValue32", stream, CU_STREAM_MEM_OP_WRITE_VALUE_32, address,
                      value, flags);
}
CUresult cuStreamWriteValue64_v2(CUstream stream, CUdeviceptr address, cuuint64_t value,
                                 unsigned flags) {
  return submit_value("cuStreamWriteValue64", stream, CU_STREAM_MEM_OP_WRITE_VALUE_64, address,
                      value, flags);
}

CUresult cuStreamBatchMemOp_v2(CUstream stream, unsigned count,
                               CUstreamBatchMemOpParams* operations, unsigned flags) {
  return driver_call("cuStreamBatchMemOp", Needs::context, [&](Process& p) {
    constexpr unsigned most = 255;
    if (count > most || (count > 0 && operations == nullptr) || flags != 0) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    return submit_values(p, stream, {operations, operations + count});
  });
}

}  // namespace
}  // namespace api

std::span<const Answer> stream_value_answers() {
  static const Answer table[] = {
      WARPMETER_ANSWER(cuStreamWaitValue32_v2),  WARPMETER_ANSWER(cuStreamWaitValue64_v2),
      WARPMETER_ANSWER(cuStreamWriteValue32_v2), WARPMETER_ANSWER(cuStreamWriteValue64_v2),
      WARPMETER_ANSWER(cuStreamBatchMemOp_v2),
  };
  return table;
}

}  // namespace warpmeter::runtime
