/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Parsers of joulecast-record: names of frames, perf maps, formats of tracepoints, records. */

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "model/profile.h"
#include "record/cxx-name.h"
#include "record/frame-name.h"
#include "record/gpu-clients.h"
#include "record/perf-map.h"
#include "record/record-parse.h"
#include "record/tracepoints.h"
#include "record/waking.h"
#include "record/words.h"
#include "util/util.h"

static void check_names(void)
{
        static const struct {
                const char *symbol, *path, *name;
        } cases[] = {
                { "main", "/usr/bin/player", "main@player" },
                { NULL, "/usr/lib/libz.so.1.2.13", "[unknown]@libz.so.1" },
                { "deflate_slow", "/usr/lib/libz.so.1", "deflate_slow@libz.so.1" },
                { "parse.constprop.0", "/bin/a", "parse@a" },
                { "parse.isra.0.part.3.cold", "/bin/a", "parse@a" },
                { "parse.cold", "/bin/a", "parse@a" },
                { "a.particle", "/bin/a", "a.particle@a" },
                { "read@@GLIBC_2.2.5", "/lib/libc.so.6", "read@libc.so.6" },
                { "read@GLIBC_2.2.5", "/lib/libc.so.6", "read@libc.so.6" },
                { "__memcpy_avx_unaligned_erms", "/lib/libc.so.6", "memcpy@libc.so.6" },
                { "__memmove_evex_unaligned", "/lib/libc.so.6", "memmove@libc.so.6" },
                { "__strlen_asimd", "/lib/libc.so.6", "strlen@libc.so.6" },
                { "__strange", "/lib/libc.so.6", "__strange@libc.so.6" },
                { "JS:a b;c", "[jit]", "JS:a b_c@[jit]" },
                { "JS:*hot /home/a/b.js:1:17", "[jit]", "JS:*hot /home/a/b.js:1:17@[jit]" },
                { "JS:~load node:internal/modules:1257:33", "[jit]", "JS:~load node:internal/modules:1257:33@[jit]" },
                { "JS:~ /home/a/b.js:1:17", "[jit]", "JS:~ /home/a/b.js:1:17@[jit]" },
                { "JS:", "[jit]", "JS:@[jit]" },
                { "py::load:/a/x.py", "[jit]", "py::load:/a/x.py@[jit]" },
                { "int Hot.leaf(int)", "[jit]", "int Hot.leaf(int)@[jit]" },
                { "\033[2J", "/tmp/a b;c@d", "?[2J@a_b_c_d" },
                { "", "/bin/a", "[unknown]@a" },
                { "@", "/bin/a", "@@a" },
        };
        char name[FRAME_NAME_MAX];

        for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
                check_text(frame_name(cases[i].symbol, cases[i].path, name, sizeof(name)), cases[i].name);
        check(frame_is_unknown("[unknown]@a") && !frame_is_unknown("unknown@a"));
}

static void check_cxx(void)
{
        static const struct {
                const char *name, *made;
        } cases[] = {
                { "game::World::tick(int)", "game::World::tick" },
                { "main", "main" },
                { "std::vector<int, std::allocator<int> >::push_back(int const&)", "std::vector<>::push_back" },
                { "void std::sort<int*>(int*, int*)", "std::sort<>" },
                { "std::map<int, a<b> > const& f::g<int>(int) const", "f::g<>" },
                { "operator new(unsigned long)", "operator_new" },
                { "A::operator bool() const", "A::operator_bool" },
                { "A::operator()(int) const", "A::operator()" },
                { "std::ostream& std::operator<< <char>(std::ostream&)", "std::operator<<<>" },
                { "std::istream& std::operator>><char, int>(std::istream&, int&)", "std::operator>><>" },
                { "auto app::operator-><int>(app::A&)", "app::operator-><>" },
                { "app::A app::operator-<app::A>(app::A const&)", "app::operator-<>" },
                { "bool operator<(A const&, A const&)", "operator<" },
                { "A::operator->() const", "A::operator->" },
                { "app::(anonymous namespace)::run(int)", "app::run" },
                { "app::run(int)::{lambda(int)#1}::operator()(int) const", "app::run::{lambda#1}::operator()" },
                { "A::f(int) const::{lambda()#2}::operator()() const", "A::f::{lambda#2}::operator()" },
                { "f[abi:cxx11](int)", "f" },
                { "non-virtual thunk to B::draw()", "B::draw" },
                { "decltype (a(b)) f<int>(int)", "f<>" },
                { "X<(A)1, (operator<<)>::f()", "X<>::f" },
                { "parse::Url::join::h0123456789abcdef", "parse::Url::join" },
                { "f(int", NULL }, { "f<int", NULL }, { "", NULL }, { "<", NULL }, { ")", ")" },
        };
        char made[64];

        for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
                snprintf(made, sizeof(made), "before");
                check_int(cxx_short(cases[i].name, made, sizeof(made)), cases[i].made != NULL);
                check_text(made, cases[i].made ? cases[i].made : "before");
        }
        check(!cxx_short("longer::than::there::is::room", made, 10));
        check(!cxx_name("main", made, sizeof(made)));
        if (!cxx_name("_ZN4game5World4tickEi", made, sizeof(made)))
                return; /* a build without libstdc++ */
        check_text(made, "game::World::tick");
        check_text(frame_name("_ZN4game5World4tickEi.isra.0", "/bin/a", made, sizeof(made)), "game::World::tick@a");
        check(!cxx_name(
                "_Z1fI1aIS0_S0_E1bIS1_S1_E1cIS2_S2_E1dIS3_S3_E1eIS4_S4_E1gIS5_S5_E1hIS6_S6_E1iIS7_S7_E1jIS8_S8_E"
                "1kIS9_S9_E1lISA_SA_E1mISB_SB_E1nISC_SC_E1oISD_SD_E1pISE_SE_E1qISF_SF_E1rISG_SG_E1sISH_SH_EEvv",
                made, sizeof(made)));
}

static void check_waking(void)
{
        static const char text[] = "[profile]\nversion = 1\ndevice = x\n[battery]\nenergy_full_mwh = 10000\n"
                                   "[base]\npower_mw = 100\n"
                                   "[wifi]\non_mw = 10\nrx_mj_per_mb = 5\ntx_mj_per_mb = 7\nwake_mj = 20\n";
        struct profile *profile = NULL;
        struct waking waking;
        struct waking_charge charge;

        check_int(profile_parse(text, strlen(text), "x", NULL, &profile), 0);
        if (!profile)
                return;
        check_int(waking_open(&waking, profile), 0);
        check_int(waking_packet(&waking, 1000000000, RADIO_TX, 1000, 3, &charge), 0);
        check(charge.woke && isnan(charge.own_nj));
        check_near(charge.waker_nj, 20e6, 1);
        check_int(waking_packet(&waking, 1040000000, RADIO_TX, 1000, 4, &charge), 0); /* within the burst */
        check(!charge.woke);
        check_near(charge.waker_nj, 0, 0);
        check_int(waking_packet(&waking, 1100000000, RADIO_RX, 1000, 5, &charge), 0);
        check(charge.woke);
        check_int(charge.waker, 5);
        waking_close(&waking);
        profile_free(profile);
}

/* A radio that draws 1000 mW for 200 ms after a packet, and rests at 10 mW. */
static void check_waking_automaton(void)
{
        static const char text[] = "[profile]\nversion = 1\ndevice = x\n[battery]\nenergy_full_mwh = 10000\n"
                                   "[base]\npower_mw = 100\n"
                                   "[wifi]\nradio = 1\n[radio wifi]\ninitial = rest\ntx_nj_per_byte = 2\n"
                                   "rx_nj_per_byte = 1\n"
                                   "[radio wifi rest]\npower_mw = 10\non_tx = up\non_rx = up\n"
                                   "[radio wifi up]\npower_mw = 1000\nafter = 200 rest\n";
        struct profile *profile = NULL;
        struct waking waking;
        struct waking_charge charge;
        double sum = 0;

        check_int(profile_parse(text, strlen(text), "x", NULL, &profile), 0);
        if (!profile)
                return;
        check_int(waking_open(&waking, profile), 0);
        check(waking.radio);
        check_int(waking_packet(&waking, 5000000000, RADIO_TX, 1000, 3, &charge), 0);
        check(charge.woke);
        check_near(charge.own_nj, 2000, 1);
        check_int(waking_packet(&waking, 5100000000, RADIO_RX, 1000, 4, &charge), 0);
        check(!charge.woke);
        check_int(charge.waker, 3);
        check_near(charge.own_nj, 1000, 1);
        sum += charge.waker_nj;
        check_near(charge.waker_nj, .1 * 990e6, 1e4);
        check_int(waking_packet(&waking, 7000000000, RADIO_TX, 1000, 5, &charge), 0);
        check(charge.woke);
        check_int(charge.waker, 3); /* who woke it pays for its end */
        sum += charge.waker_nj;
        check_near(sum, .3 * 990e6, 1e4);
        check_int(waking_rest(&waking, &charge), 0);
        check_int(charge.waker, 5);
        check_near(charge.waker_nj, .2 * 990e6, 1e4);
        waking_close(&waking);
        profile_free(profile);
}

static void write_text(const char *folder, const char *name, const char *text)
{
        char path[512];

        snprintf(path, sizeof(path), "%s/%s", folder, name);
        check_int(util_write_file(path, text, strlen(text), 0600), 0);
}

/* As amdgpu writes it: the program has the GPU open twice, its child has the same client, and one of its own. */
static void check_gpu(void)
{
        static const char fdinfo[] = "pos:\t0\nflags:\t02100002\nmnt_id:\t26\ndrm-driver:\tamdgpu\n"
                                     "drm-pdev:\t0000:03:00.0\n"
                                     "drm-client-id:\t%d\ndrm-engine-gfx:\t%lu ns\ndrm-engine-dec:\t0 ns\n";
        static const char *const folders[] = { "7", "7/fd", "7/fdinfo", "7/task", "7/task/7",
                                               "8", "8/fd", "8/fdinfo", "8/task", "8/task/8" };
        static const struct {
                const char *link, *info;
                int client;
                unsigned long ns;
        } fds[] = { { "7/fd/3", "7/fdinfo/3", 1, 1000 }, { "7/fd/4", "7/fdinfo/4", 1, 1000 },
                    { "8/fd/3", "8/fdinfo/3", 1, 1100 }, { "8/fd/5", "8/fdinfo/5", 2, 500 } };
        char folder[] = "/tmp/joulecast-gpu-XXXXXX", path[512], text[512];
        struct gpu_clients clients = { 0 };
        int proc_fd;

        check(mkdtemp(folder) != NULL);
        for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++) {
                snprintf(path, sizeof(path), "%s/%s", folder, folders[i]);
                check_int(mkdir(path, 0700), 0);
        }
        write_text(folder, "7/task/7/children", "8 ");
        write_text(folder, "8/task/8/children", "");
        for (size_t i = 0; i < sizeof(fds) / sizeof(*fds); i++) {
                snprintf(path, sizeof(path), "%s/%s", folder, fds[i].link);
                check_int(symlink("/dev/dri/renderD128", path), 0);
                snprintf(text, sizeof(text), fdinfo, fds[i].client, fds[i].ns); /* NOLINT */
                write_text(folder, fds[i].info, text);
        }
        proc_fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
        check_int(gpu_clients_look(&clients, proc_fd, 7, 1), 0);
        check_int(clients.n, 2);
        check_int(gpu_clients_busy_ns(&clients), 1600);
        snprintf(text, sizeof(text), fdinfo, 2, 900ul); /* NOLINT */
        write_text(folder, "8/fdinfo/5", text);
        check_int(gpu_clients_look(&clients, proc_fd, 7, 2), 0);
        check_int(gpu_clients_busy_ns(&clients), 2000);
        check_int(gpu_clients_look(&clients, proc_fd, 99, 5000000000), 0); /* gone: as it was */
        check_int(gpu_clients_busy_ns(&clients), 2000);
        gpu_clients_clear(&clients);
        close(proc_fd);
        snprintf(path, sizeof(path), "rm -r %s", folder);
        check_int(system(path), 0); /* NOLINT */
}

static void check_perf_map(void)
{
        static const char text[] = "1000 10 first\n1010 10 second one\nno line\n2000 0 empty\n1000 8 again\n"
                                   "ffffffffffffffff 2 over\n";
        static const char parts[] = "1000 100 first\n1008 20 part\n";
        struct perf_map *map;

        check_int(perf_map_parse(text, sizeof(text) - 1, &map), 0);
        check_text(perf_map_find(map, 0x1007, SIZE_MAX), "again");
        check(!perf_map_find(map, 0x1008, SIZE_MAX));
        check_text(perf_map_find(map, 0x101f, SIZE_MAX), "second one");
        check(!perf_map_find(map, 0x1020, SIZE_MAX));
        check(!perf_map_find(map, 0xfff, SIZE_MAX));
        check(!perf_map_find(map, 0x2000, SIZE_MAX));
        check_text(perf_map_find(map, 0x1007, strlen("1000 10 first")), "first"); /* before it was used again */
        check_text(perf_map_find(map, 0x1008, strlen("1000 10 first")), "first");
        check_text(perf_map_find(map, 0x1007, 0), "first");
        check_text(perf_map_find(map, 0x1010, 0), "second one");
        perf_map_free(map);
        check_int(perf_map_parse(parts, sizeof(parts) - 1, &map), 0);
        check_text(perf_map_find(map, 0x1010, 14), "first"); /* a part of it was used again, by another start */
        check_text(perf_map_find(map, 0x1010, SIZE_MAX), "part");
        check_text(perf_map_find(map, 0x1030, SIZE_MAX), "first");
        perf_map_free(map);
        check_int(perf_map_parse("", 0, &map), 0);
        check(!perf_map_find(map, 1, SIZE_MAX));
        perf_map_free(map);
}

static void check_format(void)
{
        static const char text[] = "format:\n\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n"
                                   "\tfield:void * skbaddr;\toffset:8;\tsize:8;\tsigned:0;\n"
                                   "\tfield:unsigned int len;\toffset:16;\tsize:4;\tsigned:0;\n"
                                   "\tfield:char comm[16];\toffset:24;\tsize:16;\tsigned:0;\n"
                                   "\tfield:__data_loc char[] name;\toffset:20;\tsize:4;\tsigned:0;\n";
        const uint32_t length = 261;
        char raw[24] = { 0 };
        struct tracepoint_place field = { 0 };

        memcpy(raw + 16, &length, sizeof(length)); /* in the machine's byte order, as the kernel writes it */
        check_int(tracepoints_field(text, "len", &field), 0);
        check_int(field.offset, 16);
        check_int(tracepoints_number(&field, raw, sizeof(raw)), 261);
        check_int(tracepoints_number(&field, raw, 19), 0);
        check_int(tracepoints_field(text, "name", &field), 0);
        check_int(field.offset, 20);
        check_int(tracepoints_field(text, "comm", &field), 0);
        check_int(field.size, 16);
        check_int(tracepoints_number(&field, raw, sizeof(raw)), 0);
        check_int(tracepoints_field(text, "en", &field), -ENOENT);
        check_int(tracepoints_field("\tfield:int a;\toffset:x;", "a", &field), -EINVAL);
        check_int(tracepoints_field("\tfield:int a", "a", &field), -EINVAL);
}

static void check_records(void)
{
        static uint64_t words[8];
        const char *data = (const char *)words;
        struct perf_event_header header = { .type = PERF_RECORD_LOST, .size = 56 };
        struct record_event event;
        struct record_sample sample;

        memcpy(words, &header, sizeof(header));
        words[2] = 7;       /* lost */
        words[4] = 1234;    /* the time, second in the trailer */
        check_int(record_header(data, sizeof(words), 0, &header), 0);
        check_int(record_time(data, &header), 1234);
        check_int(record_event(data, &header, &event), 0);
        check_int(event.lost, 7);
        check_int(record_header(data, 55, 0, &header), -EINVAL);
        check_int(record_header(data, sizeof(words), sizeof(words) - 4, &header), -EINVAL);
        header = (struct perf_event_header){ .type = PERF_RECORD_SAMPLE, .size = 40 };
        check_int(record_sample(data, &header, &sample), -EINVAL);
        header = (struct perf_event_header){ .type = PERF_RECORD_MMAP2, .size = 40 };
        check_int(record_event(data, &header, &event), -EINVAL);
}

static void check_words(void)
{
        struct words *words = words_new();
        size_t length;

        check_int(words_number(words, "a", 1), 0);
        check_int(words_number(words, "a\0b", 3), 1);
        check_int(words_number(words, "", 0), 2);
        check_int(words_number(words, "a", 1), 0);
        check_int(words_number(words, "", 0), 2);
        check_text(words_bytes(words, 0, &length), "a");
        check_int(length, 1);
        check_int(words_count(words), 3);
        words_free(words);
}

int main(void)
{
        check_names();
        check_cxx();
        check_waking();
        check_waking_automaton();
        check_gpu();
        check_perf_map();
        check_format();
        check_records();
        check_words();
        return check_result();
}
