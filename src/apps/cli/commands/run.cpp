#include "apps/cli/commands/run.h"

#include <charconv>
#include <cstdio>
#include <optional>

#include <glaze/json/write.hpp>

#include "apps/cli/exit_code.h"
#include "apps/cli/files.h"
#include "apps/cli/json_line.h"
#include "apps/cli/local_job.h"
#include "apps/cli/local_run.h"
#include "apps/cli/picture.h"
#include "apps/cli/progress.h"
#include "common/base/check.h"
#include "common/base/format.h"
#include "common/crypto/sha256.h"

// The document that --json prints.
namespace weft::cli::run_report {

struct Output {
  std::string name;
  std::string type;
  std::vector<std::uint64_t> shape;
  std::uint64_t bytes = 0;
  std::string sha256;
  std::optional<std::string> file;  // Absolute path of the file.
};
struct Report {
  std::string name;
  std::string device;
  std::uint32_t tasks = 0;             // Number of tasks of the job.
  std::array<std::uint32_t, 2> ran{};  // First and last task that ran.
  std::optional<std::string> root;     // The job's root, if all tasks ran.
  std::vector<std::string> task_roots;
  std::vector<Output> outputs;
  std::uint32_t dispatches = 0;
  double gpu_s = 0;
  double wall_s = 0;
  std::optional<std::string> png;  // Absolute path of the picture.
};

}  // namespace weft::cli::run_report

namespace weft::cli {
namespace {

using run_report::Report;

Result<std::optional<TaskSpan>> parse_tasks(std::string_view text) {
  if (text.empty()) return std::nullopt;
  TaskSpan span;
  const std::size_t dots = text.find("..");
  const auto number = [](std::string_view digits, std::uint32_t& value) {
    const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return code == std::errc() && end == digits.data() + digits.size();
  };
  const bool good =
      dots == std::string_view::npos
          ? number(text, span.first) && number(text, span.last)
          : number(text.substr(0, dots), span.first) && number(text.substr(dots + 2), span.last);
  if (!good) return fail(ErrorCode::invalid_argument, "--tasks takes I or I..J, not \"{}\".", text);
  return span;
}

std::string full_path(const std::filesystem::path& path) {
  return std::filesystem::absolute(path).lexically_normal().string();
}

Result<Report> run_and_write(const RunCommand& options) {
  if (options.device != "gpu" && options.device != "cpu")
    return fail(ErrorCode::invalid_argument, "--device is gpu or cpu, not \"{}\".", options.device);
  WEFT_ASSIGN(const std::optional<TaskSpan> tasks, parse_tasks(options.tasks));
  WEFT_ASSIGN(const auto job, load_local_job(options.manifest));
  Result<LocalResult> ran = [&] {
    Progress progress(job->manifest.name);
    return run_locally(
        job, options.device == "cpu" ? LocalDevice::cpu : LocalDevice::gpu, tasks,
        [&](std::uint32_t done, std::uint32_t total) { progress.show(done, total, "tasks"); });
  }();
  if (!ran) return pass(std::move(ran));

  Report report;
  report.name = job->manifest.name;
  report.device = ran->device;
  report.tasks = ran->tasks_total;
  report.ran = {ran->tasks.first, ran->tasks.last};
  report.root = ran->job_root.transform([](const Hash& root) { return root.text(); });
  report.dispatches = ran->dispatches;
  report.gpu_s = ran->gpu_seconds;
  report.wall_s = ran->wall_seconds;
  for (const Hash& root : ran->task_roots) report.task_roots.push_back(root.text());
  for (const LocalOutput& output : ran->outputs) {
    run_report::Output& row = report.outputs.emplace_back();
    row.name = output.name;
    row.type = output.type;
    row.shape = output.shape;
    row.bytes = output.bytes.size();
    row.sha256 = crypto::sha256(output.bytes).text();
    if (!options.out.empty()) {
      const std::filesystem::path file =
          options.out / weft::format("{}.{}.bin", report.name, output.name);
      WEFT_OK(write_file(file, output.bytes));
      row.file = full_path(file);
    }
    if (!options.png.empty() && !report.png && report.root &&
        is_picture(output.type, output.shape)) {
      WEFT_OK(write_picture(options.png, output.bytes, output.type, output.shape));
      report.png = full_path(options.png);
    }
  }
  if (!options.png.empty() && !report.png) {
    return fail(ErrorCode::unsupported,
                "The job has no two-dimensional output of numbers to draw{}.",
                report.root ? "" : ", or only a part of it ran");
  }
  return report;
}

void print(const Report& report) {
  std::printf("%s on %s: %u of %u tasks, %u dispatches, %.3f s (%.3f s on the device)\n",
              report.name.c_str(), report.device.c_str(), report.ran[1] - report.ran[0] + 1,
              report.tasks, report.dispatches, report.wall_s, report.gpu_s);
  for (const run_report::Output& output : report.outputs) {
    std::string shape;
    for (const std::uint64_t side : output.shape)
      shape += (shape.empty() ? "" : " x ") + std::to_string(side);
    std::printf("%s  %s [%s]  %llu bytes  sha256 %s%s%s\n", output.name.c_str(),
                output.type.c_str(), shape.c_str(), static_cast<unsigned long long>(output.bytes),
                output.sha256.c_str(), output.file ? "  " : "", output.file.value_or("").c_str());
  }
  if (report.root) {
    std::printf("root  %s\n", report.root->c_str());
  } else {
    for (std::size_t i = 0; i < report.task_roots.size(); ++i) {
      std::printf("root of task %zu  %s\n", report.ran[0] + i, report.task_roots[i].c_str());
    }
  }
  if (report.png) std::printf("picture  %s\n", report.png->c_str());
}

}  // namespace

int run_command(const RunCommand& options) {
  const Result<Report> done = run_and_write(options);
  if (!done) return report("run", done.error());
  if (!options.json) {
    print(*done);
    return 0;
  }
  std::fputs(json_line(*done).c_str(), stdout);
  return 0;
}

}  // namespace weft::cli
