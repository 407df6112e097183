// The fields of every message between a worker and the coordinator (shape.h says how fields are
// listed). Private to this folder.
#pragma once

#include <array>
#include <string_view>
#include <tuple>

#include "common/protocol/messages.h"
#include "common/protocol/shape.h"

namespace weft::protocol {

// This count fits in a frame of 1 MiB: an item of a receipt, the longest element of these lists,
// takes under 180 bytes.
inline constexpr FieldBounds task_list{.count_max = 4096};
// The bound of chunks to open: the paths of 16 chunks, with 64 siblings each, take under 80 KiB.
inline constexpr FieldBounds opened_chunks{.count_max = opened_chunks_max};
// `max` is the number of a group of steps.
inline constexpr FieldBounds opened_states{.count_max = opened_states_max, .max = step_roots_max};

template <>
struct Shape<Capabilities> {
  static constexpr std::string_view name = "Capabilities";
  static constexpr std::tuple fields{field("device", &Capabilities::device),
                                     field("vendor", &Capabilities::vendor),
                                     field("architecture", &Capabilities::architecture),
                                     field("description", &Capabilities::description),
                                     field("backend", &Capabilities::backend),
                                     field("features", &Capabilities::features),
                                     field("limits", &Capabilities::limits),
                                     field("memory_bytes", &Capabilities::memory_bytes),
                                     field("copy_gb_per_s", &Capabilities::copy_gb_per_s),
                                     field("f32_gflop_per_s", &Capabilities::f32_gflop_per_s)};
};
template <>
struct Shape<Hello> {
  static constexpr std::string_view type = "hello";
  static constexpr std::string_view name = "Hello";
  static constexpr std::tuple fields{
      field("versions", &Hello::versions, {.count_max = 16}),
      field("key", &Hello::key),
      field("nonce", &Hello::nonce),
      field("kind", &Hello::kind),
      field("software", &Hello::software),
      field("slots", &Hello::slots, {.max = 4096}),
      field("capabilities", &Hello::capabilities),
      field("slice_memory_bytes", &Hello::slice_memory_bytes, {.optional = true}),
      field("price_min", &Hello::price_min, {.max = price_min_max, .optional = true})};
};
template <>
struct Shape<Challenge> {
  static constexpr std::string_view type = "challenge";
  static constexpr std::string_view name = "Challenge";
  static constexpr std::tuple fields{
      field("version", &Challenge::version),
      field("nonce", &Challenge::nonce),
      field("coordinator", &Challenge::coordinator),
      field("signature", &Challenge::signature),
      field("genesis", &Challenge::genesis, {.optional = true}),
      field("program", &Challenge::program, {.optional = true}),
      field("invite_file", &Challenge::invite_file, {.bytes_max = 4096, .optional = true})};
};
template <>
struct Shape<Prove> {
  static constexpr std::string_view type = "prove";
  static constexpr std::string_view name = "Prove";
  static constexpr std::tuple fields{
      field("signature", &Prove::signature),
      field("invite", &Prove::invite, {.bytes_max = 256, .optional = true})};
};
template <>
struct Shape<Welcome> {
  static constexpr std::string_view type = "welcome";
  static constexpr std::string_view name = "Welcome";
  static constexpr std::tuple fields{field("session", &Welcome::session),
                                     field("beat_ms", &Welcome::beat_ms),
                                     field("blob_token", &Welcome::blob_token, {.bytes_max = 1024}),
                                     field("balance", &Welcome::balance)};
};
template <>
struct Shape<HeldTask> {
  static constexpr std::string_view name = "HeldTask";
  static constexpr std::tuple fields{field("task", &HeldTask::task),
                                     field("attempt", &HeldTask::attempt),
                                     field("proof", &HeldTask::proof, {.optional = true})};
};
template <>
struct Shape<Resume> {
  static constexpr std::string_view type = "resume";
  static constexpr std::string_view name = "Resume";
  static constexpr std::tuple fields{field("held", &Resume::held, task_list)};
};
template <>
struct Shape<LeasedTask> {
  static constexpr std::string_view name = "LeasedTask";
  static constexpr std::tuple fields{
      field("index", &LeasedTask::index),
      field("attempt", &LeasedTask::attempt),
      field("first", &LeasedTask::first),
      field("count", &LeasedTask::count),
      field("proof", &LeasedTask::proof, {.optional = true}),
      field("step_roots", &LeasedTask::step_roots, {.optional = true})};
};
template <>
struct Shape<ResumePoint> {
  static constexpr std::string_view name = "ResumePoint";
  static constexpr std::tuple fields{
      field("index", &ResumePoint::index), field("blob", &ResumePoint::blob),
      field("bytes", &ResumePoint::bytes), field("done", &ResumePoint::done)};
};
template <>
struct Shape<Lease> {
  static constexpr std::string_view type = "lease";
  static constexpr std::string_view name = "Lease";
  static constexpr std::tuple fields{
      field("job", &Lease::job),
      field("manifest", &Lease::manifest),
      field("piece_workgroups_max", &Lease::piece_workgroups_max),
      field("wall_ms_max", &Lease::wall_ms_max),
      field("tasks", &Lease::tasks, task_list),
      field("resume", &Lease::resume, {.count_max = 4096, .optional = true}),
      field("checkpoint_ms", &Lease::checkpoint_ms, {.optional = true}),
      field("client", &Lease::client, {.optional = true}),
      field("weight", &Lease::weight, {.optional = true})};
};
template <>
struct Shape<OutputPart> {
  static constexpr std::string_view name = "OutputPart";
  static constexpr std::tuple fields{field("hash", &OutputPart::hash),
                                     field("bytes", &OutputPart::bytes),
                                     field("in_frame", &OutputPart::in_frame)};
};
template <>
struct Shape<TaskResult> {
  static constexpr std::string_view type = "result";
  static constexpr std::string_view name = "TaskResult";
  static constexpr std::tuple fields{field("task", &TaskResult::task),
                                     field("attempt", &TaskResult::attempt),
                                     field("root", &TaskResult::root),
                                     field("outputs", &TaskResult::outputs, {.count_max = 64}),
                                     field("gpu_seconds", &TaskResult::gpu_seconds),
                                     field("wall_seconds", &TaskResult::wall_seconds),
                                     field("resumed", &TaskResult::resumed, {.optional = true}),
                                     field("step_roots", &TaskResult::step_roots,
                                           {.count_max = step_roots_max, .optional = true})};
};
template <>
struct Shape<ReceiptItem> {
  static constexpr std::string_view name = "ReceiptItem";
  static constexpr std::tuple fields{
      field("task", &ReceiptItem::task), field("attempt", &ReceiptItem::attempt),
      field("root", &ReceiptItem::root), field("first", &ReceiptItem::first, {.optional = true}),
      field("count", &ReceiptItem::count, {.optional = true})};
};
template <>
struct Shape<Receipt> {
  static constexpr std::string_view type = "receipt";
  static constexpr std::string_view name = "Receipt";
  static constexpr std::tuple fields{field("items", &Receipt::items, {.count_max = 8}),
                                     field("signature", &Receipt::signature)};
};
template <>
struct Shape<TaskFailed> {
  static constexpr std::string_view type = "failed";
  static constexpr std::string_view name = "TaskFailed";
  static constexpr std::tuple fields{
      field("task", &TaskFailed::task), field("attempt", &TaskFailed::attempt),
      field("code", &TaskFailed::code), field("message", &TaskFailed::message, message_text)};
};
template <>
struct Shape<Beat> {
  static constexpr std::string_view type = "beat";
  static constexpr std::string_view name = "Beat";
  static constexpr std::tuple fields{field("running", &Beat::running)};
};
template <>
struct Shape<Checkpoint> {
  static constexpr std::string_view type = "checkpoint";
  static constexpr std::string_view name = "Checkpoint";
  static constexpr std::tuple fields{
      field("task", &Checkpoint::task),      field("attempt", &Checkpoint::attempt),
      field("blob", &Checkpoint::blob),      field("bytes", &Checkpoint::bytes),
      field("done", &Checkpoint::done),      field("of", &Checkpoint::of),
      field("stopped", &Checkpoint::stopped)};
};
template <>
struct Shape<Slots> {
  static constexpr std::string_view type = "slots";
  static constexpr std::string_view name = "Slots";
  static constexpr std::tuple fields{field("slots", &Slots::slots, {.max = 4096})};
};
template <>
struct Shape<Bye> {
  static constexpr std::string_view type = "bye";
  static constexpr std::string_view name = "Bye";
  static constexpr std::tuple fields{field("reason", &Bye::reason, message_text)};
};
template <>
struct Shape<Verdict> {
  static constexpr std::string_view type = "verdict";
  static constexpr std::string_view name = "Verdict";
  static constexpr std::tuple fields{
      field("task", &Verdict::task),         field("attempt", &Verdict::attempt),
      field("accepted", &Verdict::accepted), field("paid", &Verdict::paid),
      field("balance", &Verdict::balance),   field("reason", &Verdict::reason, message_text)};
};
template <>
struct Shape<Cancel> {
  static constexpr std::string_view type = "cancel";
  static constexpr std::string_view name = "Cancel";
  static constexpr std::tuple fields{field("tasks", &Cancel::tasks, task_list),
                                     field("reason", &Cancel::reason, message_text)};
};
template <>
struct Shape<Yield> {
  static constexpr std::string_view type = "yield";
  static constexpr std::string_view name = "Yield";
  static constexpr std::tuple fields{field("tasks", &Yield::tasks, task_list)};
};
template <>
struct Shape<ChunkName> {
  static constexpr std::string_view name = "ChunkName";
  static constexpr std::tuple fields{field("output", &ChunkName::output),
                                     field("chunk", &ChunkName::chunk)};
};
template <>
struct Shape<OpenChunks> {
  static constexpr std::string_view type = "open";
  static constexpr std::string_view name = "OpenChunks";
  static constexpr std::tuple fields{field("task", &OpenChunks::task),
                                     field("attempt", &OpenChunks::attempt),
                                     field("chunks", &OpenChunks::chunks, opened_chunks)};
};
template <>
struct Shape<ChunkPath> {
  static constexpr std::string_view name = "ChunkPath";
  static constexpr std::tuple fields{field("output", &ChunkPath::output),
                                     field("chunk", &ChunkPath::chunk),
                                     field("chunks", &ChunkPath::chunks),
                                     field("siblings", &ChunkPath::siblings, {.count_max = 64})};
};
template <>
struct Shape<Opening> {
  static constexpr std::string_view type = "opening";
  static constexpr std::string_view name = "Opening";
  static constexpr std::tuple fields{field("task", &Opening::task),
                                     field("attempt", &Opening::attempt),
                                     field("roots", &Opening::roots, {.count_max = 64}),
                                     field("paths", &Opening::paths, opened_chunks)};
};
template <>
struct Shape<OpenStates> {
  static constexpr std::string_view type = "open_states";
  static constexpr std::string_view name = "OpenStates";
  static constexpr std::tuple fields{field("task", &OpenStates::task),
                                     field("attempt", &OpenStates::attempt),
                                     field("groups", &OpenStates::groups, opened_states)};
};
template <>
struct Shape<StepState> {
  static constexpr std::string_view name = "StepState";
  static constexpr std::tuple fields{field("group", &StepState::group, {.max = step_roots_max}),
                                     field("blob", &StepState::blob, {.optional = true}),
                                     field("bytes", &StepState::bytes, {.optional = true})};
};
template <>
struct Shape<States> {
  static constexpr std::string_view type = "states";
  static constexpr std::string_view name = "States";
  static constexpr std::tuple fields{
      field("task", &States::task), field("attempt", &States::attempt),
      field("states", &States::states, {.count_max = opened_states_max})};
};
template <>
struct Shape<ErrorMessage> {
  static constexpr std::string_view type = "error";
  static constexpr std::string_view name = "ErrorMessage";
  static constexpr std::tuple fields{field("code", &ErrorMessage::code),
                                     field("message", &ErrorMessage::message, message_text)};
};

template <>
struct Words<WorkerKind> {
  static constexpr std::array<std::string_view, 2> words{"native", "browser"};
};
template <>
struct Words<DeviceKind> {
  static constexpr std::array<std::string_view, 2> words{"gpu", "cpu"};
};

}  // namespace weft::protocol
