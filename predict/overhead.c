/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * `joulecast doctor --overhead`: the energy and time that the service itself uses, from the kernel's
 * counters since it started. The time that its BPF programs add to other processes
 * counts as theirs; docs/performance.md has it.
 */

#include <cjson/cJSON.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/service.h"
#include "doctor.h"
#include "model/model.h"
#include "source/proc.h"
#include "util/paths.h"
#include "util/units.h"
#include "util/util.h"

#define SERVICE "joulecastd"

static ssize_t read_of(int proc_fd, int pid, const char *name, char *text, size_t size)
{
        char path[48];

        snprintf(path, sizeof(path), "%d/%s", pid, name);
        return util_read_at(proc_fd, path, text, size);
}

/* The number after a key of /proc/PID/status; NaN: the key is missing. */
static double number_after(const char *text, const char *key)
{
        const char *at = strstr(text, key);

        return at ? strtod(at + strlen(key), NULL) : NAN;
}

static bool is_service(int proc_fd, int pid, struct proc_stat *ret)
{
        char text[1024];
        ssize_t length = read_of(proc_fd, pid, "stat", text, sizeof(text));

        return length > 0 && proc_parse_stat(text, (size_t)length, ret) && strcmp(ret->comm, SERVICE) == 0;
}

/* Finds a running service; among several the system's, which answers queries (@answers: its process). */
static void find_service(int proc_fd, int answers, struct overhead *overhead, struct proc_stat *ret)
{
        _cleanup_closedir_ DIR *dir = util_opendir_at(proc_fd, ".");
        struct proc_stat stat;
        struct dirent *entry;

        while (dir && (entry = readdir(dir))) {
                int pid = atoi(entry->d_name);

                if (pid <= 0 || !is_service(proc_fd, pid, &stat))
                        continue;
                overhead->n_running++;
                if (overhead->pid && pid != answers)
                        continue;
                overhead->pid = pid;
                *ret = stat;
        }
}

/* Time since the machine was started: /proc/PID/stat counts the start of a process from there. NaN: unknown. */
static double uptime_s(int proc_fd)
{
        char text[64];

        return util_read_at(proc_fd, "uptime", text, sizeof(text)) > 0 ? strtod(text, NULL) : NAN;
}

/* Its CPU time and bytes written in a day, priced like an app's. */
static void price(const struct profile *profile, struct overhead *overhead)
{
        struct usage usage = { .have = USAGE_ALL };
        struct model_vector vector = { 0 };
        struct model_energy energy;
        uint64_t busy_ns;

        if (isnan(overhead->cpu_s_per_day))
                return;
        busy_ns = (uint64_t)(overhead->cpu_s_per_day * 1e9);
        if (!isnan(overhead->written_mb_per_day))
                usage.write_bytes = (uint64_t)(overhead->written_mb_per_day * BYTES_PER_MB);
        if (usage_add_cpu(&usage, 0, KHZ_UNKNOWN, busy_ns, busy_ns) == 0 &&
            model_vector_make(profile, &usage, &vector) == 0) {
                model_energy(profile, &vector, 0.95, 0, &energy);
                overhead->percent_per_day = energy.value_j / J_PER_PERCENT(profile->energy_full_mwh);
        }
        model_vector_clear(&vector);
        usage_clear(&usage);
}

/* Number of lost events that the service reports; NaN: unknown. */
static double read_lost(const char *socket)
{
        _cleanup_free_ char *line = NULL;
        struct cJSON *json, *lost;
        double value = NAN;

        if (service_exchange(socket, "{\"ask\":\"service\"}\n", SERVICE_PATIENCE_S, &line) < 0)
                return NAN;
        json = cJSON_Parse(line);
        lost = cJSON_GetObjectItemCaseSensitive(json, "lost");
        if (cJSON_IsNumber(lost))
                value = lost->valuedouble;
        cJSON_Delete(json);
        return value;
}

static void measure(int proc_fd, const struct proc_stat *stat, struct overhead *overhead)
{
        double cpu_s = (double)stat->cpu_ticks / (double)sysconf(_SC_CLK_TCK), days;
        char text[4096];
        struct proc_io io;

        overhead->running_s = uptime_s(proc_fd) - (double)stat->start_time / (double)sysconf(_SC_CLK_TCK);
        days = overhead->running_s >= OVERHEAD_LEAST_S ? overhead->running_s / 86400 : NAN;
        overhead->cpu_s_per_day = cpu_s / days;
        if (read_of(proc_fd, overhead->pid, "status", text, sizeof(text)) > 0) {
                overhead->wakeups_per_hour = number_after(text, "\nvoluntary_ctxt_switches:") / (days * 24);
                overhead->rss_mb = number_after(text, "\nVmRSS:") * 1024 / BYTES_PER_MB;
                overhead->anonymous_mb = number_after(text, "\nRssAnon:") * 1024 / BYTES_PER_MB;
        }
        if (read_of(proc_fd, overhead->pid, "io", text, sizeof(text)) > 0 && proc_parse_io(text, &io))
                overhead->written_mb_per_day = (double)io.write_bytes / BYTES_PER_MB / days;
}

int overhead_look(const struct options *options, struct findings *findings)
{
        _cleanup_close_ int root_fd =
                open(options->machine ? options->machine : "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        _cleanup_close_ int proc_fd = root_fd < 0 ? -1 : openat(root_fd, "proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        const char *socket = service_path();
        struct overhead *overhead = &findings->overhead;
        struct proc_stat stat = { 0 };
        int answers;

        *overhead = (struct overhead){ 0, 0, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN };
        if (proc_fd < 0)
                return CODE_FAILED;
        answers = service_pid(socket);
        find_service(proc_fd, answers, overhead, &stat);
        if (overhead->pid == 0)
                return CODE_OK;
        measure(proc_fd, &stat, overhead);
        if (overhead->pid == answers)
                overhead->lost = read_lost(socket);
        if (findings->model)
                price(findings->model, overhead);
        return CODE_OK;
}
