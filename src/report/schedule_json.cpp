#include "fuselage/report/export.h"

namespace fuselage::report {
namespace {

using nlohmann::ordered_json;

template <class Value>
ordered_json or_null(const std::optional<Value>& value) {
  return value ? ordered_json(*value) : ordered_json(nullptr);
}

ordered_json text_or_null(const std::string& text) {
  return text.empty() ? ordered_json(nullptr) : ordered_json(text);
}

ordered_json kernel_json(const Kernel& kernel) {
  return {{"ops", kernel.ops},
          {"tile", kernel.tile},
          {"traversal", text_or_null(kernel.traversal)},
          {"retain", kernel.retain},
          {"loads", kernel.loads},
          {"stores", kernel.stores},
          {"loaded", kernel.loaded},
          {"stored", kernel.stored},
          {"compute", kernel.compute},
          {"memory", kernel.memory},
          {"launch", kernel.launch},
          {"launches", kernel.launches},
          {"latency", kernel.latency},
          {"start", kernel.start},
          {"end", kernel.end},
          {"bound", kernel.bound},
          {"working_set", kernel.working_set},
          {"working_set_share", kernel.working_set_share},
          {"held", kernel.held},
          {"other", kernel.working_set - kernel.held_size}};
}

ordered_json totals_json(const Totals& totals) {
  return {{"compute", totals.compute},
          {"memory", totals.memory},
          {"launch", totals.launch},
          {"loaded", totals.loaded},
          {"stored", totals.stored},
          {"launches", totals.launches},
          {"largest_working_set", totals.largest_working_set}};
}

ordered_json machine_json(const Machine& machine) {
  return {{"capacity", machine.capacity},
          {"bandwidth", machine.bandwidth},
          {"launch", machine.launch},
          {"max_fusion_depth", or_null(machine.max_fusion_depth)},
          {"native", or_null(machine.native)}};
}

}  // namespace

ordered_json subject_json(const Subject& subject) {
  ordered_json json = {{"name", subject.name},
                       {"family", subject.family},
                       {"time_unit", subject.time_unit},
                       {"size_unit", subject.size_unit},
                       {"machine", machine_json(subject.machine)},
                       {"ops", ordered_json::array()},
                       {"tensors", ordered_json::array()}};
  for (const Op& op : subject.ops)
    json["ops"].push_back({{"op", op.kind},
                           {"name", op.name},
                           {"shape", op.shape},
                           {"inputs", op.inputs},
                           {"outputs", op.outputs}});
  for (const Tensor& tensor : subject.tensors)
    json["tensors"].push_back({{"producer", or_null(tensor.producer)}, {"size", tensor.size}});
  return json;
}

ordered_json schedule_json(const Schedule& schedule) {
  ordered_json json = {{"label", schedule.label},
                       {"rules", schedule.rules},
                       {"order", text_or_null(schedule.order)},
                       {"legal", schedule.legal()},
                       {"fault", nullptr},
                       {"doubt", schedule.doubt},
                       {"latency", schedule.latency},
                       {"lower_bound", or_null(schedule.lower_bound)},
                       {"proof", schedule.proof},
                       {"overflows", schedule.overflows},
                       {"greedy_latency", or_null(schedule.greedy_latency)},
                       {"naive_latency", or_null(schedule.naive_latency)},
                       {"kernels", ordered_json::array()}};
  if (const auto& fault = schedule.fault)
    json["fault"] = {{"code", fault->code}, {"kernel", or_null(fault->kernel)}, {"message", fault->message}};
  for (const Kernel& kernel : schedule.kernels) json["kernels"].push_back(kernel_json(kernel));
  json["totals"] = totals_json(schedule.totals);
  return json;
}

}  // namespace fuselage::report
