/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "run-file.h"

#include <arpa/inet.h>
#include <cjson/cJSON.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "model/json-print.h"
#include "util/text.h"
#include "util/units.h"
#include "util/util.h"

#define VERSION 1
#define PACKETS_HEAD "in_ns,start_ns,link_ns,due_ns,out_ns,bytes,direction,verdict,woke,queued,protocol,peer,port"
#define CPU_HEAD "time_ns,cpu_ns"
#define TASKS_HEAD "time_ns,cpu_ns,pid,name"
#define NAMES_HEAD "address,name"
#define RADIO_HEAD "time_s,direction,bytes"
#define JSON_BYTES_MAX (1 << 20)
#define WALL_NS_MAX ((int64_t)RADIO_SECONDS_MAX * (int64_t)NS_PER_S)

static const char *const verdicts[] = { "delivered", "lost", "dropped", "waiting" };

void run_file_clear(struct recorded_run *run)
{
        free(run->target);
        free(run->network);
        free(run->carrier);
        free(run->signal);
        for (size_t i = 0; i < run->n_runs; i++)
                price_clear_run(&run->runs[i]);
        *run = (struct recorded_run){ 0 };
}

static void path_of(const char *folder, const char *what, uint64_t seed, char *ret, size_t size)
{
        snprintf(ret, size, "%s/%s-%" PRIu64 ".csv", folder, what, seed);
}

static int write_text(const char *path, FILE *stream, struct text_kept *kept, const struct log *log)
{
        _cleanup_free_ char *text = text_close(stream, kept);
        int err = text ? util_write_file(path, text, kept->length, 0644) : -ENOMEM;

        if (err)
                log_error(log, "%s cannot be written: %s", path, util_reason(err));
        return err;
}

static const char *address_text(uint32_t address, char ret[INET_ADDRSTRLEN])
{
        struct in_addr number = { .s_addr = htonl(address) };

        return inet_ntop(AF_INET, &number, ret, INET_ADDRSTRLEN);
}

static int save_packets(const struct run *run, const char *folder, const struct log *log)
{
        struct text_kept kept;
        FILE *stream = text_open(&kept);
        char path[4096];

        if (!stream)
                return -ENOMEM;
        fputs(PACKETS_HEAD "\n", stream);
        for (size_t i = 0; i < run->n_packets; i++) {
                const struct packet_record *packet = &run->packets[i];
                char address[INET_ADDRSTRLEN];

                fprintf(stream, "%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRIu32 ",%s,%s,%u,%u,%u,%s,%u\n",
                        packet->in_ns, packet->start_ns, packet->link_ns, packet->due_ns, packet->out_ns, packet->bytes,
                        radio_directions[packet->direction], verdicts[packet->verdict], packet->woke, packet->queued,
                        packet->protocol, address_text(packet->peer, address), packet->port);
        }
        path_of(folder, "packets", run->seed, path, sizeof(path));
        return write_text(path, stream, &kept, log);
}

/* As joulecast price-packets reads it. */
static int save_radio(const struct run *run, const char *folder, const struct log *log)
{
        _cleanup_free_ struct radio_event *events = NULL;
        struct text_kept kept;
        size_t n;
        FILE *stream;
        char path[4096];
        int err = record_events(run->packets, run->n_packets, &events, &n);

        if (err)
                return err;
        stream = text_open(&kept);
        if (!stream)
                return -ENOMEM;
        fputs(RADIO_HEAD "\n", stream);
        for (size_t i = 0; i < n; i++)
                fprintf(stream, "%" PRId64 ".%09" PRId64 ",%s,%" PRIu32 "\n", events[i].time_ns / (int64_t)NS_PER_S,
                        events[i].time_ns % (int64_t)NS_PER_S, radio_directions[events[i].direction], events[i].bytes);
        path_of(folder, "radio", run->seed, path, sizeof(path));
        return write_text(path, stream, &kept, log);
}

static int save_cpu(const struct run *run, const char *folder, const struct log *log)
{
        struct text_kept kept;
        FILE *stream = text_open(&kept);
        char path[4096];

        if (!stream)
                return -ENOMEM;
        fputs(CPU_HEAD "\n", stream);
        for (size_t i = 0; i < run->n_cpu; i++)
                fprintf(stream, "%" PRId64 ",%" PRId64 "\n", run->cpu[i].time_ns, run->cpu[i].cpu_ns);
        path_of(folder, "cpu", run->seed, path, sizeof(path));
        return write_text(path, stream, &kept, log);
}

/* Names are the app's to choose. */
static int save_tasks(const struct run *run, const char *folder, const struct log *log)
{
        struct text_kept kept;
        FILE *stream = text_open(&kept);
        char path[4096], name[4 * RECORD_TASK_MAX];

        if (!stream)
                return -ENOMEM;
        fputs(TASKS_HEAD "\n", stream);
        for (size_t i = 0; i < run->n_tasks; i++)
                fprintf(stream, "%" PRId64 ",%" PRId64 ",%" PRId32 ",%s\n", run->tasks[i].time_ns, run->tasks[i].cpu_ns,
                        run->tasks[i].pid, util_printable(run->tasks[i].name, name, sizeof(name)));
        path_of(folder, "tasks", run->seed, path, sizeof(path));
        return write_text(path, stream, &kept, log);
}

static int save_names(const struct run *run, const char *folder, const struct log *log)
{
        struct text_kept kept;
        FILE *stream = text_open(&kept);
        char path[4096], address[INET_ADDRSTRLEN];

        if (!stream)
                return -ENOMEM;
        fputs(NAMES_HEAD "\n", stream);
        for (size_t i = 0; i < run->n_names; i++)
                fprintf(stream, "%s,%s\n", address_text(run->names[i].address, address), run->names[i].name);
        path_of(folder, "names", run->seed, path, sizeof(path));
        return write_text(path, stream, &kept, log);
}

static struct cJSON *to_json(const struct recorded_run *run)
{
        struct cJSON *json = cJSON_CreateObject(), *speeds, *runs;

        cJSON_AddNumberToObject(json, "version", VERSION);
        cJSON_AddStringToObject(json, "target", run->target);
        cJSON_AddStringToObject(json, "network", run->network);
        if (run->carrier)
                cJSON_AddStringToObject(json, "carrier", run->carrier);
        if (run->signal)
                cJSON_AddStringToObject(json, "signal", run->signal);
        cJSON_AddNumberToObject(json, "brightness_percent", run->brightness_percent);
        if (isfinite(run->cpu_factor))
                cJSON_AddNumberToObject(json, "cpu_factor", run->cpu_factor);
        speeds = cJSON_AddArrayToObject(json, "speed");
        for (int k = 0; k < BENCH_KERNELS; k++)
                cJSON_AddItemToArray(speeds, cJSON_CreateNumber(run->speed[k]));
        runs = cJSON_AddArrayToObject(json, "runs");
        for (size_t i = 0; i < run->n_runs; i++) {
                struct cJSON *one = cJSON_CreateObject();

                cJSON_AddNumberToObject(one, "seed", (double)run->runs[i].seed);
                cJSON_AddNumberToObject(one, "wall_ns", (double)run->runs[i].wall_ns);
                cJSON_AddNumberToObject(one, "status", run->runs[i].status);
                cJSON_AddItemToArray(runs, one);
        }
        return json;
}

int run_save(const struct recorded_run *run, const char *folder, const struct log *log)
{
        _cleanup_free_ char *text = NULL;
        char path[4096];
        int err = 0;

        if (mkdir(folder, 0755) < 0 && errno != EEXIST) {
                log_error(log, "the folder %s cannot be made: %s", folder, strerror(errno));
                return -errno;
        }
        for (size_t i = 0; !err && i < run->n_runs; i++) {
                err = save_packets(&run->runs[i], folder, log);
                err = err ? err : save_radio(&run->runs[i], folder, log);
                err = err ? err : save_cpu(&run->runs[i], folder, log);
                err = err ? err : save_tasks(&run->runs[i], folder, log);
                err = err ? err : save_names(&run->runs[i], folder, log);
        }
        if (err)
                return err;
        text = json_print(to_json(run), JSON_INDENTED);
        if (!text)
                return -ENOMEM;
        snprintf(path, sizeof(path), "%s/run.json", folder); /* last: without it the folder is no run */
        err = util_write_file(path, text, strlen(text), 0644);
        if (err)
                log_error(log, "%s cannot be written: %s", path, util_reason(err));
        return err;
}

struct lines {
        FILE *file;
        char path[4096];
        char *line;
        size_t capacity;
        unsigned number;
        const struct log *log;
};

static int bad_line(const struct lines *lines)
{
        log_error(lines->log, "%s:%u: not a row as joulecast emulate writes it", lines->path, lines->number);
        return -EINVAL;
}

static void lines_close(struct lines *lines)
{
        fclosep(&lines->file);
        free(lines->line);
}

/* 1: lines->line is the next one, without its newline; 0: there is none; a negative errno. */
static int next_line(struct lines *lines)
{
        ssize_t n = getline(&lines->line, &lines->capacity, lines->file);

        if (n < 0)
                return feof(lines->file) ? 0 : -EIO;
        lines->line[strcspn(lines->line, "\n")] = '\0';
        lines->number++;
        return 1;
}

static int lines_open(const char *folder, const char *what, uint64_t seed, const char *head, const struct log *log,
                      struct lines *ret)
{
        struct lines lines = { .log = log };

        path_of(folder, what, seed, lines.path, sizeof(lines.path));
        lines.file = fopen(lines.path, "re");
        if (!lines.file) {
                log_error(log, "%s cannot be read: %s", lines.path, strerror(errno));
                return -errno;
        }
        if (next_line(&lines) != 1 || strcmp(lines.line, head) != 0) {
                log_error(log, "%s does not begin with the line %s", lines.path, head);
                lines_close(&lines);
                return -EINVAL;
        }
        *ret = lines;
        return 0;
}

static int direction_of(const char *word)
{
        return strcmp(word, "tx") == 0 ? RADIO_TX : strcmp(word, "rx") == 0 ? RADIO_RX : -1;
}

static int parse_packet(const char *line, struct packet_record *ret)
{
        char direction[4], verdict[12], peer[INET_ADDRSTRLEN];
        unsigned woke, queued, protocol, port;
        struct in_addr address;
        struct packet_record packet = { 0 };
        int end = 0, which = -1;

        if (sscanf(line, "%" SCNd64 ",%" SCNd64 ",%" SCNd64 ",%" SCNd64 ",%" SCNd64 ",%" SCNu32 ",%3[a-z],%11[a-z],%u,%u,%u,%15[0-9.],%u%n",
                   &packet.in_ns, &packet.start_ns, &packet.link_ns, &packet.due_ns, &packet.out_ns, &packet.bytes, direction,
                   verdict, &woke, &queued, &protocol, peer, &port, &end) != 13 || line[end] || direction_of(direction) < 0 || woke > 1 || queued > 1 ||
            protocol > UINT8_MAX || port > UINT16_MAX || inet_pton(AF_INET, peer, &address) != 1)
                return -EINVAL;
        for (size_t i = 0; i < ARRAY_SIZE(verdicts); i++)
                if (strcmp(verdict, verdicts[i]) == 0)
                        which = (int)i;
        if (which < 0 || packet.in_ns < 0 || packet.in_ns > WALL_NS_MAX || packet.link_ns < 0 || packet.link_ns > WALL_NS_MAX ||
            packet.due_ns < 0 || packet.due_ns > WALL_NS_MAX || packet.out_ns < 0 || packet.out_ns > WALL_NS_MAX)
                return -EINVAL;
        packet.direction = (uint8_t)direction_of(direction);
        packet.verdict = (uint8_t)which;
        packet.woke = (uint8_t)woke;
        packet.queued = (uint8_t)queued;
        packet.protocol = (uint8_t)protocol;
        packet.port = (uint16_t)port;
        packet.peer = ntohl(address.s_addr);
        *ret = packet;
        return 0;
}

static int load_packets(const char *folder, const struct log *log, struct run *run)
{
        _cleanup_(lines_close) struct lines lines = { 0 };
        size_t capacity = 0;
        int err = lines_open(folder, "packets", run->seed, PACKETS_HEAD, log, &lines), more;

        if (err)
                return err;
        while ((more = next_line(&lines)) > 0) {
                err = util_grow(&run->packets, &capacity, run->n_packets + 1, sizeof(*run->packets));
                if (err)
                        return err;
                if (parse_packet(lines.line, &run->packets[run->n_packets]) < 0)
                        return bad_line(&lines);
                run->n_packets++;
        }
        return more;
}

static int load_cpu(const char *folder, const struct log *log, struct run *run)
{
        _cleanup_(lines_close) struct lines lines = { 0 };
        struct cpu_record before = { 0, 0 };
        size_t capacity = 0;
        int err = lines_open(folder, "cpu", run->seed, CPU_HEAD, log, &lines), more;

        if (err)
                return err;
        while ((more = next_line(&lines)) > 0) {
                struct cpu_record record;
                int end = 0;

                if (sscanf(lines.line, "%" SCNd64 ",%" SCNd64 "%n", &record.time_ns, &record.cpu_ns, &end) != 2 ||
                    lines.line[end] || record.time_ns < before.time_ns || record.time_ns > WALL_NS_MAX ||
                    record.cpu_ns < before.cpu_ns || record.cpu_ns > WALL_NS_MAX)
                        return bad_line(&lines);
                err = util_grow(&run->cpu, &capacity, run->n_cpu + 1, sizeof(*run->cpu));
                if (err)
                        return err;
                run->cpu[run->n_cpu++] = before = record;
        }
        return more;
}

static int load_tasks(const char *folder, const struct log *log, struct run *run)
{
        _cleanup_(lines_close) struct lines lines = { 0 };
        size_t capacity = 0;
        int64_t before_ns = 0;
        int err = lines_open(folder, "tasks", run->seed, TASKS_HEAD, log, &lines), more;

        if (err)
                return err;
        while ((more = next_line(&lines)) > 0) {
                struct task_record record = { 0 };
                int end = 0;

                if (sscanf(lines.line, "%" SCNd64 ",%" SCNd64 ",%" SCNd32 ",%n", &record.time_ns, &record.cpu_ns, &record.pid,
                           &end) != 3 || !end || record.time_ns < before_ns || record.time_ns > WALL_NS_MAX || record.cpu_ns < 0 ||
                    record.cpu_ns > WALL_NS_MAX || strlen(lines.line + end) >= sizeof(record.name))
                        return bad_line(&lines);
                strcpy(record.name, lines.line + end);
                err = util_grow(&run->tasks, &capacity, run->n_tasks + 1, sizeof(*run->tasks));
                if (err)
                        return err;
                run->tasks[run->n_tasks++] = record;
                before_ns = record.time_ns;
        }
        return more;
}

static int load_names(const char *folder, const struct log *log, struct run *run)
{
        _cleanup_(lines_close) struct lines lines = { 0 };
        size_t capacity = 0;
        int err = lines_open(folder, "names", run->seed, NAMES_HEAD, log, &lines), more;

        if (err)
                return err;
        while ((more = next_line(&lines)) > 0) {
                struct name_record record = { 0 };
                char text[INET_ADDRSTRLEN];
                struct in_addr address;

                if (sscanf(lines.line, "%15[0-9.],%63[-_.A-Za-z0-9]", text, record.name) != 2 ||
                    strlen(lines.line) != strlen(text) + 1 + strlen(record.name) || inet_pton(AF_INET, text, &address) != 1)
                        return bad_line(&lines);
                record.address = ntohl(address.s_addr);
                err = util_grow(&run->names, &capacity, run->n_names + 1, sizeof(*run->names));
                if (err)
                        return err;
                run->names[run->n_names++] = record;
        }
        return more;
}

static char *text_of(const struct cJSON *json, const char *key)
{
        const struct cJSON *item = cJSON_GetObjectItemCaseSensitive(json, key);

        return cJSON_IsString(item) ? strdup(item->valuestring) : NULL;
}

/* A number from @low to @high, or NaN. */
static double number_of(const struct cJSON *item, double low, double high)
{
        return cJSON_IsNumber(item) && item->valuedouble >= low && item->valuedouble <= high ? item->valuedouble : NAN;
}

static double member_of(const struct cJSON *json, const char *key, double low, double high)
{
        return number_of(cJSON_GetObjectItemCaseSensitive(json, key), low, high);
}

/* False: something is missing or not possible. */
static bool read_conditions(const struct cJSON *json, struct recorded_run *run)
{
        const struct cJSON *speed = cJSON_GetObjectItemCaseSensitive(json, "speed");

        run->target = text_of(json, "target");
        run->network = text_of(json, "network");
        run->carrier = text_of(json, "carrier");
        run->signal = text_of(json, "signal");
        run->brightness_percent = member_of(json, "brightness_percent", 0, 100);
        run->cpu_factor = member_of(json, "cpu_factor", 0.01, 1000);
        for (int k = 0; k < BENCH_KERNELS; k++)
                run->speed[k] = number_of(cJSON_GetArrayItem(speed, k), 1e-9, 1e12);
        return member_of(json, "version", VERSION, VERSION) == VERSION && run->target && run->network &&
               !isnan(run->brightness_percent);
}

static int read_run(const struct cJSON *json, const char *folder, const struct log *log, struct run *run)
{
        double seed = member_of(json, "seed", 0, 9e15), wall_ns = member_of(json, "wall_ns", 1, (double)WALL_NS_MAX);
        double status = member_of(json, "status", 0, INT32_MAX);
        int err;

        if (isnan(seed) || isnan(wall_ns) || isnan(status)) {
                log_error(log, "%s/run.json is no run of joulecast emulate: a run needs seed, wall_ns and status", folder);
                return -EINVAL;
        }
        run->seed = (uint64_t)seed;
        run->wall_ns = (int64_t)wall_ns;
        run->status = (int32_t)status;
        err = load_packets(folder, log, run);
        err = err ? err : load_cpu(folder, log, run);
        err = err ? err : load_tasks(folder, log, run);
        return err ? err : load_names(folder, log, run);
}

static int read_runs(const struct cJSON *json, const char *folder, const struct log *log, struct recorded_run *run)
{
        const struct cJSON *runs = cJSON_GetObjectItemCaseSensitive(json, "runs"), *one;
        int err = 0;

        if (!read_conditions(json, run) || cJSON_GetArraySize(runs) < 1 || cJSON_GetArraySize(runs) > PRICE_SEEDS_MAX) {
                log_error(log, "%s/run.json is no run of joulecast emulate, or of another version", folder);
                return -EINVAL;
        }
        cJSON_ArrayForEach(one, runs)
                if (!err)
                        err = read_run(one, folder, log, &run->runs[run->n_runs++]);
        return err;
}

int run_load(const char *folder, const struct log *log, struct recorded_run *ret)
{
        _cleanup_free_ char *text = malloc(JSON_BYTES_MAX);
        struct recorded_run run = { .cpu_factor = NAN };
        struct cJSON *json;
        char path[4096];
        ssize_t n;
        int err;

        snprintf(path, sizeof(path), "%s/run.json", folder);
        if (!text)
                return -ENOMEM;
        n = util_read_at(AT_FDCWD, path, text, JSON_BYTES_MAX);
        if (n < 0) {
                log_error(log, "%s is no run of joulecast emulate -o: %s", folder, strerror((int)-n));
                return (int)n;
        }
        json = cJSON_Parse(text);
        err = read_runs(json, folder, log, &run);
        cJSON_Delete(json);
        if (err)
                run_file_clear(&run);
        else
                *ret = run;
        return err;
}
