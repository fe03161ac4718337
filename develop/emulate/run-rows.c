/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "run-rows.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "packets/capture.h"
#include "util/text.h"
#include "util/util.h"

#define PACKETS_HEAD                                                                                         \
        "in_ns,start_ns,link_ns,due_ns,out_ns,host_ns,left_ns,bytes,direction,verdict,woke,queued,protocol,peer,port"
#define CPU_HEAD "time_ns,cpu_ns"
#define TASKS_HEAD "time_ns,cpu_ns,pid,name"
#define NAMES_HEAD "address,name"
#define SCREEN_HEAD "time_ns,red,green,blue,colours"
#define RADIO_HEAD "time_s,direction,bytes"

static const char *const verdicts[] = { "delivered", "lost", "dropped", "waiting" };

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

                fprintf(stream,
                        "%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64
                        ",%" PRIu32 ",%s,%s,%u,%u,%u,%s,%u\n",
                        packet->in_ns, packet->start_ns, packet->link_ns, packet->due_ns, packet->out_ns,
                        packet->host_ns, packet->left_ns, packet->bytes, radio_directions[packet->direction],
                        verdicts[packet->verdict], packet->woke, packet->queued, packet->protocol,
                        address_text(packet->peer, address), packet->port);
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

/* The same packets, as other programs read them; their times are since the run began. */
static int save_capture(const struct run *run, const char *folder, const struct log *log)
{
        _cleanup_free_ struct radio_event *events = NULL;
        _cleanup_free_ char *bytes = NULL;
        struct capture_writer *writer = NULL;
        size_t n = 0, length = 0;
        char path[4096];
        int err = run->heads ? record_events(run->packets, run->n_packets, &events, &n) : 0;

        if (err || !run->heads)
                return err;
        err = capture_writer_new(RECORD_HEAD_MAX, &writer);
        for (size_t i = 0; !err && i < n; i++) {
                const struct captured packet = { events[i].time_ns, events[i].bytes,
                                                 MIN((size_t)events[i].bytes, sizeof(*run->heads)),
                                                 run->heads[events[i].number].bytes };

                capture_writer_add(writer, &packet);
        }
        if (!err)
                err = capture_writer_end(writer, &bytes, &length);
        snprintf(path, sizeof(path), "%s/packets-%" PRIu64 ".pcap", folder, run->seed);
        if (!err)
                err = util_write_file(path, bytes, length, 0644);
        if (err)
                log_error(log, "%s cannot be written: %s", path, util_reason(err));
        return err;
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

/* Colours as "fff=1200", by the upper 4 bits of red, green and blue. */
static int save_screen(const struct run *run, const char *folder, const struct log *log)
{
        struct text_kept kept;
        FILE *stream = text_open(&kept);
        char path[4096];

        if (!stream)
                return -ENOMEM;
        fputs(SCREEN_HEAD "\n", stream);
        for (size_t i = 0; i < run->n_frames; i++) {
                const struct frame_record *frame = &run->frames[i];

                fprintf(stream, "%" PRId64 ",%.9g,%.9g,%.9g,", frame->time_ns, frame->light[0],
                        frame->light[1], frame->light[2]);
                for (unsigned c = 0; c < ARRAY_SIZE(frame->colours); c++)
                        if (frame->colours[c])
                                fprintf(stream, " %03x=%" PRIu32, c, frame->colours[c]);
                fputc('\n', stream);
        }
        path_of(folder, "screen", run->seed, path, sizeof(path));
        return write_text(path, stream, &kept, log);
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

        if (sscanf(line, "%" SCNd64 ",%" SCNd64 ",%" SCNd64 ",%" SCNd64 ",%" SCNd64 ",%" SCNd64 ",%" SCNd64 ",%" SCNu32
                   ",%3[a-z],%11[a-z],%u,%u,%u,%15[0-9.],%u%n",
                   &packet.in_ns, &packet.start_ns, &packet.link_ns, &packet.due_ns, &packet.out_ns, &packet.host_ns,
                   &packet.left_ns, &packet.bytes, direction,
                   verdict, &woke, &queued, &protocol, peer, &port, &end) != 15 || line[end] ||
            direction_of(direction) < 0 || woke > 1 || queued > 1 || protocol > UINT8_MAX || port > UINT16_MAX ||
            inet_pton(AF_INET, peer, &address) != 1)
                return -EINVAL;
        for (size_t i = 0; i < ARRAY_SIZE(verdicts); i++)
                if (strcmp(verdict, verdicts[i]) == 0)
                        which = (int)i;
        if (which < 0 || packet.in_ns < 0 || packet.in_ns > RUN_ROWS_NS_MAX || packet.link_ns < 0 ||
            packet.link_ns > RUN_ROWS_NS_MAX || packet.due_ns < 0 || packet.due_ns > RUN_ROWS_NS_MAX ||
            packet.out_ns < 0 || packet.out_ns > RUN_ROWS_NS_MAX || packet.host_ns < 0 ||
            packet.host_ns > RUN_ROWS_NS_MAX || packet.left_ns < 0 || packet.left_ns > RUN_ROWS_NS_MAX)
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
                    lines.line[end] || record.time_ns < before.time_ns || record.time_ns > RUN_ROWS_NS_MAX ||
                    record.cpu_ns < before.cpu_ns || record.cpu_ns > RUN_ROWS_NS_MAX)
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

                if (sscanf(lines.line, "%" SCNd64 ",%" SCNd64 ",%" SCNd32 ",%n", &record.time_ns,
                           &record.cpu_ns, &record.pid, &end) != 3 ||
                    !end || record.time_ns < before_ns || record.time_ns > RUN_ROWS_NS_MAX ||
                    record.cpu_ns < 0 || record.cpu_ns > RUN_ROWS_NS_MAX ||
                    strlen(lines.line + end) >= sizeof(record.name))
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
                    strlen(lines.line) != strlen(text) + 1 + strlen(record.name) ||
                    inet_pton(AF_INET, text, &address) != 1)
                        return bad_line(&lines);
                record.address = ntohl(address.s_addr);
                err = util_grow(&run->names, &capacity, run->n_names + 1, sizeof(*run->names));
                if (err)
                        return err;
                run->names[run->n_names++] = record;
        }
        return more;
}

static bool parse_colours(const char *text, struct frame_record *frame)
{
        int end = 0;

        for (; *text; text += end) {
                unsigned colour, n;

                end = 0;
                if (sscanf(text, " %3x=%u%n", &colour, &n, &end) != 2 || !end)
                        return false;
                frame->colours[colour] = n;
        }
        return true;
}

static bool is_light(double value)
{
        return value >= 0 && value <= 1;
}

static int load_screen(const char *folder, const struct log *log, struct run *run)
{
        _cleanup_(lines_close) struct lines lines = { 0 };
        size_t capacity = 0;
        int err = lines_open(folder, "screen", run->seed, SCREEN_HEAD, log, &lines), more;

        if (err)
                return err;
        while ((more = next_line(&lines)) > 0) {
                struct frame_record *frame;
                int end = 0;

                err = util_grow(&run->frames, &capacity, run->n_frames + 1, sizeof(*run->frames));
                if (err)
                        return err;
                frame = &run->frames[run->n_frames];
                memset(frame, 0, sizeof(*frame));
                if (sscanf(lines.line, "%" SCNd64 ",%lf,%lf,%lf,%n", &frame->time_ns, &frame->light[0],
                           &frame->light[1], &frame->light[2], &end) != 4 ||
                    !end || frame->time_ns < (run->n_frames ? frame[-1].time_ns : 0) ||
                    frame->time_ns > RUN_ROWS_NS_MAX || !is_light(frame->light[0]) ||
                    !is_light(frame->light[1]) || !is_light(frame->light[2]) ||
                    !parse_colours(lines.line + end, frame))
                        return bad_line(&lines);
                run->n_frames++;
        }
        return more;
}

int run_rows_save(const struct run *run, const char *folder, const struct log *log)
{
        static int (*const saves[])(const struct run *, const char *, const struct log *) = {
                save_packets, save_radio, save_capture, save_cpu, save_tasks, save_names, save_screen,
        };
        int err = 0;

        for (size_t i = 0; !err && i < ARRAY_SIZE(saves); i++)
                err = saves[i](run, folder, log);
        return err;
}

int run_rows_load(const char *folder, const struct log *log, struct run *run)
{
        static int (*const loads[])(const char *, const struct log *, struct run *) = {
                load_packets, load_cpu, load_tasks, load_names, load_screen,
        };
        int err = 0;

        for (size_t i = 0; !err && i < ARRAY_SIZE(loads); i++)
                err = loads[i](folder, log, run);
        return err;
}
