/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* `joulecast price-packets`: the energy of a radio for a sequence of packets. */

#include <arpa/inet.h>
#include <cjson/cJSON.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "answer/answer.h"
#include "answer/options.h"
#include "capture.h"
#include "gzip/gzip.h"
#include "model/json-print.h"
#include "model/profile.h"
#include "price-packets.h"
#include "radio/radio-run.h"
#include "util/paths.h"
#include "util/table.h"
#include "util/units.h"
#include "util/util.h"

struct request {
        struct options options;
        const char *radio, *carrier, *signal, *file;
        double until_s, start_s; /* @start_s NaN: the time of a capture's first packet */
        struct capture_addresses own;
};

/* Finds a shipped file of radios by its name; NULL: there is none. 0; -ENOMEM. */
static int shipped_radios(const char *name, char **ret)
{
        _cleanup_free_ char *folder = NULL, *path = NULL;
        int err = paths_data("radios", &folder);

        if (!err && asprintf(&path, "%s/%s.ini", folder, name) < 0)
                err = -ENOMEM;
        if (!err)
                *ret = strchr(name, '/') || access(name, F_OK) == 0 || access(path, F_OK) < 0 ? NULL : TAKE_PTR(path);
        return err;
}

/* Reads radios from a file with nothing else, or from a profile, which must then be valid as a whole. An exit code. */
static int read_radios(const struct request *request, struct radios *ret)
{
        _cleanup_free_ char *shipped = NULL;
        _cleanup_(profile_freep) struct profile *profile = NULL;
        const char *path = request->options.profile;
        bool others = true;
        int code;

        if (path && shipped_radios(path, &shipped) < 0)
                return CODE_FAILED;
        path = shipped ? shipped : path;
        if (path && access(path, F_OK) == 0) {
                if (radio_load(path, &program_log, ret, &others) < 0)
                        return CODE_FAILED;
                if (!others)
                        return CODE_OK;
                radio_clear_all(ret);
        }
        code = open_profile(&request->options, &profile);
        if (code == CODE_OK && radio_copy_all(&profile->radios, ret) < 0)
                return CODE_FAILED;
        return code;
}

static int find_radio(const struct request *request, struct radio *ret)
{
        _cleanup_(radio_clear_all) struct radios radios = { 0 };
        int code = read_radios(request, &radios), err;

        if (code != CODE_OK)
                return code;
        err = radio_with_carrier(&radios, request->radio, request->carrier, ret);
        if (err == -ENOENT && radios.n == 0)
                log_error(&program_log,
                          "this profile has no radios: no section [radio NAME]; see joulecast-profile(5)");
        else if (err == -ENOENT)
                log_error(&program_log, "there is no [radio %.60s]; there is [radio %s]", request->radio,
                          radios.list[0].name);
        else if (err == -ESRCH)
                log_error(&program_log, "there is no [carrier %.60s] of [radio %s]", request->carrier, request->radio);
        else if (err)
                log_error(&program_log, "%s", strerror(-err));
        return err == -ENOENT || err == -ESRCH ? CODE_NO_DATA : err ? CODE_FAILED : CODE_OK;
}

static enum radio_signal signal_of(const struct request *request)
{
        for (int s = 0; request->signal && s < RADIO_SIGNALS; s++)
                if (strcmp(request->signal, radio_signals[s]) == 0)
                        return (enum radio_signal)s;
        return RADIO_SIGNAL_HIGH;
}

#define LINE_SIZE 256 /* buffer for a line of text, which is a packet */

struct reading {
        const char *path;
        unsigned line;               /* number of the line, or of the packet in a capture */
        unsigned not_ip;             /* number of packets that are not IP */
        bool uncooked, own; /* some did not say by themselves whether they were sent; some named an --address */
        struct kept {
                int64_t time_ns; /* since 1970 */
                size_t number;
                uint32_t bytes;
                enum radio_direction direction;
        } *kept; /* packets of a capture that went over the radio */
        size_t n_kept, room;
        int64_t start_ns;            /* time 0 of a capture, since 1970 */
        int64_t before_ns, until_ns; /* time of the packet before; packets from @until_ns on are left out */
        struct radio_run *run;
};

/* An exit code. */
static int read_packet(struct reading *reading, char *line)
{
        enum radio_direction direction;
        struct radio_packet packet;
        int err = radio_packet_parse(line, &packet, &direction);

        if (err == -EINVAL)
                log_error(&program_log, "%s:%u: not time_s,direction,bytes, as 1.25,tx,1500: a time of up to %.0f s, "
                          "tx or rx, and up to %.0f bytes", reading->path, reading->line, RADIO_SECONDS_MAX,
                          (double)RADIO_BYTES_MAX);
        if (err)
                return CODE_FAILED;
        if (packet.time_ns < reading->before_ns) {
                log_error(&program_log, "%s:%u: this packet came before the one above it; sort the file by time",
                          reading->path, reading->line);
                return CODE_FAILED;
        }
        reading->before_ns = packet.time_ns;
        if (packet.time_ns < reading->until_ns)
                err = radio_run_packet(reading->run, packet.time_ns, direction, packet.bytes);
        return err ? CODE_FAILED : CODE_OK;
}

/* Reads a line without its end. One of @size bytes or more is cut, and is no packet then. False: end, or error. */
static bool read_line(FILE *file, char *line, size_t size)
{
        size_t n = 0;
        int c;

        while (n < size - 1 && (c = getc(file)) != EOF && c != '\n')
                line[n++] = c ? (char)c : '?'; /* a NUL would end the row */
        line[n] = '\0';
        line[strcspn(line, "\r")] = '\0';
        return !ferror(file) && (n > 0 || !feof(file));
}

/* An exit code. */
static int read_packets(struct reading *reading, FILE *file)
{
        char line[LINE_SIZE];
        int code = CODE_OK;

        while (code == CODE_OK && read_line(file, line, sizeof(line))) {
                reading->line++;
                if (*line && (reading->line > 1 || strcmp(line, "time_s,direction,bytes") != 0))
                        code = read_packet(reading, line);
        }
        if (code == CODE_OK && !feof(file)) {
                log_error(&program_log, "%s cannot be read: %s", reading->path, gzip_reason(-errno));
                return CODE_FAILED;
        }
        return code == CODE_OK && radio_run_until(reading->run, reading->until_ns) < 0 ? CODE_FAILED : code;
}

/* The first byte tells what a file is; EOF: it is empty. */
static int first_byte(FILE *file)
{
        int first = getc(file);

        if (first != EOF)
                ungetc(first, file);
        return first;
}

/* Is it a capture and no text? pcapng begins with a newline, which no text of packets does. */
static bool is_capture(int first)
{
        return first == 0xa1 || first == 0xd4 || first == 0x4d || first == '\n';
}

/* As tcpdump -z and Wireshark leave it: by xz or lz4. */
static bool is_compressed(int first)
{
        return first == 0xfd || first == 0x04;
}

static void address_text(const struct in6_addr *address, char ret[INET6_ADDRSTRLEN])
{
        if (IN6_IS_ADDR_V4MAPPED(address))
                inet_ntop(AF_INET, address->s6_addr + 12, ret, INET6_ADDRSTRLEN);
        else
                inet_ntop(AF_INET6, address, ret, INET6_ADDRSTRLEN);
}

/* An exit code, after a sentence on a packet that is of no use. */
static int refuse_packet(const struct reading *reading, enum capture_kind kind, const struct capture_headers *headers)
{
        char from[INET6_ADDRSTRLEN], to[INET6_ADDRSTRLEN];

        if (kind == CAPTURE_CUT)
                log_error(&program_log,
                          "%s: of packet %u less than its headers was kept; 96 bytes of each are enough "
                          "(tcpdump -s 96)",
                          reading->path, reading->line);
        else {
                address_text(&headers->from, from);
                address_text(&headers->to, to);
                log_error(&program_log,
                          "%s: packet %u, from %s to %s, is of no --address; give that one of "
                          "the device, too, or leave such packets out (tcpdump -p)",
                          reading->path, reading->line, from, to);
        }
        return CODE_FAILED;
}

static int refuse_without_address(const struct reading *reading)
{
        log_error(&program_log,
                  "%s does not tell which packets the device sent; give its addresses, each as --address IP",
                  reading->path);
        return CODE_FAILED;
}

/* An exit code. */
static int read_captured(struct reading *reading, const struct request *request, bool ordered,
                         const struct captured *packet)
{
        bool cooked = packet->link == CAPTURE_COOKED || packet->link == CAPTURE_COOKED_2;
        struct capture_headers headers = { 0 };
        enum capture_kind kind = capture_read_headers(packet->link, packet->bytes, packet->kept, packet->length,
                                                      &request->own, &headers);
        int64_t time_ns;

        if (request->own.n == 0 && !cooked)
                return refuse_without_address(reading);
        reading->uncooked |= !cooked;
        reading->own |= headers.own;

        reading->line++;
        reading->start_ns = isnan(request->start_s) ? MIN(reading->start_ns, packet->time_ns)
                                                    : llround(request->start_s * 1e9);
        if (ordered && packet->time_ns < reading->before_ns) {
                log_error(&program_log, "%s: packet %u came before the one in front of it; reordercap, of "
                                        "Wireshark, sorts them",
                          reading->path, reading->line);
                return CODE_FAILED;
        }
        reading->before_ns = packet->time_ns;
        reading->not_ip += kind == CAPTURE_NOT_IP;
        time_ns = packet->time_ns - reading->start_ns;
        if (time_ns < 0 || time_ns >= reading->until_ns || kind == CAPTURE_NOT_IP || kind == CAPTURE_ELSEWHERE)
                return CODE_OK;
        if (kind != CAPTURE_RADIO)
                return refuse_packet(reading, kind, &headers);
        if (util_grow(&reading->kept, &reading->room, reading->n_kept + 1, sizeof(*reading->kept)) < 0)
                return CODE_FAILED;
        reading->kept[reading->n_kept++] =
                (struct kept){ packet->time_ns, reading->line, headers.bytes, headers.direction };
        return CODE_OK;
}

static int compare_kept(const void *a, const void *b)
{
        const struct kept *x = a, *y = b;

        if (x->time_ns != y->time_ns)
                return x->time_ns < y->time_ns ? -1 : 1;
        return (x->number > y->number) - (x->number < y->number);
}

/* Runs the kept packets in order of time. An exit code. */
static int run_kept(struct reading *reading)
{
        if (reading->n_kept > 1)
                qsort(reading->kept, reading->n_kept, sizeof(*reading->kept), compare_kept);
        for (size_t i = 0; i < reading->n_kept; i++) {
                const struct kept *kept = &reading->kept[i];
                int64_t time_ns = kept->time_ns - reading->start_ns;

                if (time_ns < reading->until_ns &&
                    radio_run_packet(reading->run, time_ns, kept->direction, kept->bytes) < 0)
                        return CODE_FAILED;
        }
        return radio_run_until(reading->run, reading->until_ns) < 0 ? CODE_FAILED : CODE_OK;
}

/* Takes @file. An exit code. */
static int read_capture(struct reading *reading, const struct request *request, FILE *file)
{
        _cleanup_(capture_closep) struct capture *capture = NULL;
        struct captured packet;
        int code = CODE_OK, more = 0;

        reading->start_ns = INT64_MAX;
        if (capture_open(file, reading->path, &program_log, &capture) < 0)
                return CODE_FAILED;
        if (request->own.n == 0 && !capture_may_tell(capture))
                return refuse_without_address(reading);
        while (code == CODE_OK && (more = capture_next(capture, &packet)) == 1)
                code = read_captured(reading, request, capture_is_ordered(capture), &packet);
        if (code == CODE_OK && more == 0 && reading->uncooked && !reading->own) {
                log_error(&program_log, "%s has no packet from or to a given --address; give those of the device",
                          reading->path);
                code = CODE_FAILED;
        }
        if (code == CODE_OK && more == 0)
                code = run_kept(reading);
        free(TAKE_PTR(reading->kept));
        if (code != CODE_OK || more < 0)
                return CODE_FAILED;
        if (reading->not_ip)
                log_warning(&program_log, "%s: packets that are not IP are left out; there are %u of them",
                            reading->path, reading->not_ip);
        return CODE_OK;
}

static struct cJSON *to_json(const struct radio_run *run)
{
        struct cJSON *json = cJSON_CreateObject(), *states;

        cJSON_AddNumberToObject(json, "energy_j", radio_run_energy_j(run));
        states = cJSON_AddArrayToObject(json, "states");
        for (size_t i = 0; i < run->radio->n_states; i++) {
                struct cJSON *state = cJSON_CreateObject();

                cJSON_AddItemToObject(state, "state", answer_text(run->radio->states[i].name));
                cJSON_AddNumberToObject(state, "seconds", (double)run->totals[i].ns / NS_PER_S);
                cJSON_AddNumberToObject(state, "energy_j", radio_total_j(&run->totals[i]));
                cJSON_AddItemToArray(states, state);
        }
        return json;
}

static void add_row(struct table *table, enum table_style style, const char *name, double seconds, double joules)
{
        table_row(table, style);
        table_cell(table, "%s", name);
        table_cell(table, "%.3f s", seconds);
        table_cell(table, "%.3f J", joules);
        if (seconds > 0)
                table_cell(table, "%.0f mW", joules / seconds * 1e3);
        else
                table_cell(table, "%s", "");
}

/* Prints these keys alone, because others compare the answer as a whole. */
static int print_json(const struct radio_run *run)
{
        _cleanup_free_ char *text = json_print(to_json(run), JSON_INDENTED);

        if (!text)
                return CODE_FAILED;
        puts(text);
        return log_flush_stdout(&program_log) < 0 ? CODE_FAILED : CODE_OK;
}

static int print_run(const struct radio_run *run)
{
        _cleanup_(table_freep) struct table *table = table_new("lrrr");
        double seconds = 0;

        table_heads(table, N_("State"), N_("Time"), N_("Energy"), N_("Mean"), NULL);
        for (size_t i = 0; i < run->radio->n_states; i++) {
                const struct radio_total *total = &run->totals[i];

                seconds += (double)total->ns / NS_PER_S;
                add_row(table, TABLE_PLAIN, run->radio->states[i].name, (double)total->ns / NS_PER_S,
                        radio_total_j(total));
        }
        add_row(table, TABLE_SUM, _("all"), seconds, radio_run_energy_j(run));
        table_print(table);
        if (*run->radio->source)
                table_note("%s; %s", run->radio->source, run->radio->verified == 1 ? _("verified") : _("not verified"));
        return CODE_OK;
}

/* An exit code: @code, or that of the answer. */
static int finish(const struct request *request, const struct radio_run *run, int code)
{
        return code != CODE_OK ? code : request->options.json ? print_json(run) : print_run(run);
}

static int price(const struct request *request)
{
        _cleanup_(radio_clear) struct radio radio = { 0 };
        _cleanup_(radio_run_clear) struct radio_run run = { 0 };
        int code = find_radio(request, &radio), first, err;
        struct reading reading = { request->file, .until_ns = (int64_t)llround(request->until_s * 1e9), .run = &run };
        FILE *file;
        bool captured;

        if (code != CODE_OK)
                return code;
        err = gzip_open(request->file, &file);
        first = err < 0 ? EOF : first_byte(file);
        if (err == 0 && ferror(file)) {
                err = -errno;
                fclose(file);
        }
        if (err < 0) {
                log_error(&program_log, "%s cannot be read: %s", request->file, gzip_reason(err));
                return CODE_FAILED;
        }
        captured = is_capture(first);
        code = radio_run_start(&run, &radio, signal_of(request)) < 0 ? CODE_FAILED : CODE_OK;
        if (code == CODE_OK && is_compressed(first)) {
                log_error(&program_log, "%s is compressed: decompress it first, for example with unxz",
                          request->file);
                code = CODE_FAILED;
        }
        if (code == CODE_OK && !captured && (request->own.n || !isnan(request->start_s))) {
                log_error(&program_log, "%s is no capture of packets, which --address and --start are for",
                          request->file);
                code = CODE_FAILED;
        }
        if (code == CODE_OK && captured)
                return finish(request, &run, read_capture(&reading, request, file));
        if (code == CODE_OK)
                code = read_packets(&reading, file);
        fclose(file);
        return finish(request, &run, code);
}

int price_packets_main(int argc, char **argv)
{
        const char *words[1] = { NULL };
        struct request request = { .until_s = NAN, .start_s = NAN };
        const struct option_row rows[] = {
                { "radio", "NAME", N_("the [radio NAME] of the profile that carries the packets"),
                  .text = &request.radio },
                { "carrier", "NAME", N_("use the timers of the profile's [carrier NAME]"), .text = &request.carrier },
                { "signal", "WHICH", N_("strength of the signal: high, medium or low"), .usual = "high",
                  .text = &request.signal, .words = "high medium low" },
                { "until", "S", N_("end at this time; packets from then on are left out"),
                  .number = &request.until_s, .low = 0, .high = RADIO_SECONDS_MAX, .unit = "s" },
                { "address", "IP", N_("with a capture: an address of the device itself; may be given several times"),
                  .parse = capture_take_address, .data = &request.own,
                  .wants = N_("an address such as 192.0.2.1 or 2001:db8::1"),
                  .range = N_("at most 64") },
                { "start", "S",
                  N_("with a capture: its time 0, in seconds since 1970; without it the time of the first packet"),
                  .number = &request.start_s, .low = 0, .high = UINT32_MAX, .unit = "s" },
        };
        const struct option_table command = {
                .called = "joulecast price-packets",
                .usage = "joulecast price-packets --radio NAME --until S FILE",
                .about = N_("Time and energy of a radio in each of its states, for a sequence of packets. FILE has "
                            "rows time_s,direction,bytes, ascending in time; direction is tx or rx. Or it is a "
                            "capture of packets (pcap, pcapng), with --address. Time begins at 0, in the radio's "
                            "initial state. If FILE is -, standard input is read."),
                .rows = rows,
                .n_rows = ARRAY_SIZE(rows),
                .words = words,
                .max_words = 1,
        };
        int code = options_parse(&command, SHARED_PROFILE | SHARED_JSON, argc, argv, &request.options);

        if (code >= 0)
                return code;
        request.file = words[0];
        if (!request.radio || !request.file || isnan(request.until_s)) {
                log_error(&program_log, "price-packets: %s needed; see joulecast price-packets --help",
                          !request.radio ? "--radio NAME is" : !request.file ? "a file of packets is" : "--until S is");
                return CODE_USAGE;
        }
        return price(&request);
}
