/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What joulecast-record parses: names of frames, perf maps, formats of tracepoints, records, input scripts; and who asked for work. */

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "harness/script.h"
#include "model/profile.h"
#include "record/causes.h"
#include "record/cxx-name.h"
#include "record/dbus-header.h"
#include "record/frame-name.h"
#include "record/gpu-clients.h"
#include "record/input-steps.h"
#include "record/letter.h"
#include "record/messages.h"
#include "record/perf-map.h"
#include "record/record-parse.h"
#include "record/terminal-keys.h"
#include "record/tracepoints.h"
#include "record/us-keyboard.h"
#include "record/waking.h"
#include "record/words.h"
#include "record/work.h"
#include "util/text.h"
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
                { "JS:a b;c", "[jit]", "JS:a_b_c@[jit]" },
                { "JS:*hot /home/a/b.js:1:17", "[jit]", "JS:hot_b.js@[jit]" },
                { "JS:~load node:internal/modules:1257:33", "[jit]", "JS:load_node:internal/modules@[jit]" },
                { "JS:~ /home/a/b.js:1:17", "[jit]", "JS:_b.js:1:17@[jit]" },
                { "JS:", "[jit]", "JS:@[jit]" },
                { "int Hot.leaf(int)", "[jit]", "int_Hot.leaf(int)@[jit]" },
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
                { "bool operator<(A const&, A const&)", "operator<" },
                { "A::operator->() const", "A::operator->" },
                { "app::(anonymous namespace)::run(int)", "app::run" },
                { "app::run(int)::{lambda(int)#1}::operator()(int) const", "app::run::{lambda}::operator()" },
                { "A::f(int) const::{lambda()#2}::operator()() const", "A::f::{lambda}::operator()" },
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
        check(!cxx_name("_Z1fI1aIS0_S0_E1bIS1_S1_E1cIS2_S2_E1dIS3_S3_E1eIS4_S4_E1gIS5_S5_E1hIS6_S6_E1iIS7_S7_E1jIS8_S8_E1kIS9_S9_E"
                        "1lISA_SA_E1mISB_SB_E1nISC_SC_E1oISD_SD_E1pISE_SE_E1qISF_SF_E1rISG_SG_E1sISH_SH_EEvv", made, sizeof(made)));
}

static void check_waking(void)
{
        static const char text[] = "[profile]\nversion = 1\ndevice = x\n[battery]\nenergy_full_mwh = 10000\n[base]\npower_mw = 100\n"
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
        static const char text[] = "[profile]\nversion = 1\ndevice = x\n[battery]\nenergy_full_mwh = 10000\n[base]\npower_mw = 100\n"
                                   "[wifi]\nradio = 1\n[radio wifi]\ninitial = rest\ntx_nj_per_byte = 2\nrx_nj_per_byte = 1\n"
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
        static const char fdinfo[] = "pos:\t0\nflags:\t02100002\nmnt_id:\t26\ndrm-driver:\tamdgpu\ndrm-pdev:\t0000:03:00.0\n"
                                     "drm-client-id:\t%d\ndrm-engine-gfx:\t%lu ns\ndrm-engine-dec:\t0 ns\n";
        static const char *const folders[] = { "7", "7/fd", "7/fdinfo", "7/task", "7/task/7", "8", "8/fd", "8/fdinfo", "8/task", "8/task/8" };
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
        static const char text[] = "1000 10 first\n1010 10 second one\nno line\n2000 0 empty\n1000 8 again\nffffffffffffffff 2 over\n";
        struct perf_map *map;

        check_int(perf_map_parse(text, sizeof(text) - 1, &map), 0);
        check_text(perf_map_find(map, 0x1007), "again");
        check(!perf_map_find(map, 0x1008));
        check_text(perf_map_find(map, 0x101f), "second one");
        check(!perf_map_find(map, 0x1020));
        check(!perf_map_find(map, 0xfff));
        check(!perf_map_find(map, 0x2000));
        perf_map_free(map);
        check_int(perf_map_parse("", 0, &map), 0);
        check(!perf_map_find(map, 1));
        perf_map_free(map);
}

static void check_format(void)
{
        static const char text[] = "format:\n\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n"
                                   "\tfield:void * skbaddr;\toffset:8;\tsize:8;\tsigned:0;\n"
                                   "\tfield:unsigned int len;\toffset:16;\tsize:4;\tsigned:0;\n"
                                   "\tfield:char comm[16];\toffset:24;\tsize:16;\tsigned:0;\n"
                                   "\tfield:__data_loc char[] name;\toffset:20;\tsize:4;\tsigned:0;\n";
        static const char raw[24] = { [16] = 5, [17] = 1 };
        struct tracepoint_place field = { 0 };

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

static void check_fault(const char *text, unsigned line)
{
        struct script script = { 0 };
        struct script_fault fault = { 0 };

        check_int(script_parse(text, strlen(text), &script, &fault), -EINVAL);
        check_int(fault.line, line);
        check(fault.wants);
}

static void check_script(void)
{
        static const char text[] = "# a comment\n\n  key ctrl+s \r\ntype hello  world\nclick 10 20\nsleep 1.5s\nwait-window Editor\n"
                                   "wait-quiet 200ms\nwait-text # READY\nclick 1 2 shift+ctrl+3\nscroll 3 4 alt+left 12\nmove  5\t6\n"
                                   "press 7 8\nrelease 9 9 8\nclose-window An Editor\nend";
        struct script script;
        struct script_fault fault;

        check_int(script_parse(text, sizeof(text) - 1, &script, &fault), 0);
        check_int(script.n, 14);
        check_text(script.steps[0].text, "ctrl+s");
        check_int(script.steps[0].line, 3);
        check_text(script.steps[1].text, "hello  world");
        check_int(script.steps[2].x, 10);
        check_int(script.steps[2].y, 20);
        check_int(script.steps[3].ns, 1500000000);
        check_int(script.steps[5].ns, 200000000);
        check_text(script.steps[6].text, "# READY");
        check_int(script.steps[2].button, SCRIPT_BUTTON_FIRST);
        check_int(script.steps[7].button, SCRIPT_BUTTON_THIRD);
        check_int(script.steps[7].modifiers, SCRIPT_CTRL | SCRIPT_SHIFT);
        check_int(script.steps[8].button, SCRIPT_WHEEL_LEFT);
        check_int(script.steps[8].modifiers, SCRIPT_ALT);
        check_int(script.steps[8].count, 12);
        check_int(script.steps[9].y, 6);
        check_int(script.steps[11].button, SCRIPT_BUTTON_BACK);
        check_text(script.steps[12].text, "An Editor");
        check_int(script.steps[13].verb, SCRIPT_END);
        script_clear(&script);
        check_fault("", 1);
        check_fault("# nothing\n", 1);
        check_fault("key\n", 1);
        check_fault("type a\nkeys b\n", 2);
        check_fault("click 1\n", 1);
        check_fault("click 1 99999\n", 1);
        check_fault("click -1 1\n", 1);
        check_fault("click 1 1 4\n", 1); /* the wheel */
        check_fault("click 1 1 0\n", 1);
        check_fault("click 1 1 hyper+1\n", 1);
        check_fault("click 1 1 1 1\n", 1);
        check_fault("move 1 1 1\n", 1);
        check_fault("scroll 1 1\n", 1);
        check_fault("scroll 1 1 in\n", 1);
        check_fault("scroll 1 1 up 0\n", 1);
        check_fault("scroll 1 1 up 1 1\n", 1);
        check_fault("close-window\n", 1);
        check_fault("sleep 1\n", 1);
        check_fault("sleep 0s\n", 1);
        check_fault("sleep 99999s\n", 1);
        check_fault("end now\n", 1);
        check_fault("end\n\ntype a\n", 3);
}

static void check_typed(const char *typed, size_t unknown, const char *steps)
{
        struct text_kept kept = { 0 };
        FILE *out = text_open(&kept);
        char *made;

        check_int(terminal_keys_steps(typed, strlen(typed), out), unknown);
        made = text_close(out, &kept);
        check_text(made, steps);
        free(made);
}

static const struct input_window window = { 1, "Main", 900, 300, 200 }, dialog = { 2, "Dialog", 7000, 100, 50 };

/* What was done, one after another, as a script. */
static void check_steps(const struct input *inputs, size_t n, const char *script)
{
        struct text_kept kept = { 0 };
        struct input_steps steps = { .out = text_open(&kept) };
        char *made;

        for (size_t i = 0; i < n; i++)
                input_steps_add(&steps, &inputs[i]);
        input_steps_end(&steps);
        made = text_close(steps.out, &kept);
        check_text(made, script);
        free(made);
}

#define CHECK_STEPS(script, ...) \
        check_steps((const struct input[]){ __VA_ARGS__ }, sizeof((const struct input[]){ __VA_ARGS__ }) / sizeof(struct input), script)
#define MAIN "# a window of 300x200\nwait-window Main\n"
#define KEY(ms, name, text) { .kind = INPUT_KEY, .time_ms = ms, .window = &window, .key = name, .letter = text }
#define BUTTON(what, ms, at_x, at_y, number) { .kind = what, .time_ms = ms, .window = &window, .x = at_x, .y = at_y, .button = number }

static void check_input_steps(void)
{
        CHECK_STEPS("", BUTTON(INPUT_RELEASE, 1000, 1, 1, 1)); /* it was pressed elsewhere */
        /* Letters are one line if they come at once; blanks at the ends are keys, as a line does not keep them. */
        CHECK_STEPS(MAIN "sleep 100ms\ntype a b\nkey space\nkey space\nkey Return\nsleep 50ms\ntype c\n",
                    KEY(1000, "a", "a"), KEY(1010, "space", " "), KEY(1020, "b", "b"), KEY(1030, "space", " "), KEY(1040, "space", " "),
                    KEY(1050, "Return", NULL), KEY(1100, "c", "c"));
        CHECK_STEPS(MAIN "key space\nkey ctrl+s\nkey alt+super+F4\ntype A\n", KEY(900, "space", " "),
                    { .kind = INPUT_KEY, .time_ms = 900, .key = "s", .letter = "s", .modifiers = SCRIPT_CTRL },
                    { .kind = INPUT_KEY, .time_ms = 900, .key = "F4", .modifiers = SCRIPT_ALT | SCRIPT_SUPER },
                    { .kind = INPUT_KEY, .time_ms = 900, .key = "A", .letter = "A" });
        /* Where the program was quiet before the user went on, it is waited for. */
        CHECK_STEPS(MAIN "type a\nsleep 1800ms\nwait-quiet 200ms\ntype b\nsleep 2000ms\ntype c\nsleep 399ms\ntype d\n", KEY(900, "a", "a"),
                    { .kind = INPUT_KEY, .time_ms = 2900, .key = "b", .letter = "b", .quiet_ms = 300 },
                    { .kind = INPUT_KEY, .time_ms = 4900, .key = "c", .letter = "c", .quiet_ms = 100 },
                    { .kind = INPUT_KEY, .time_ms = 5299, .key = "d", .letter = "d", .quiet_ms = 399 });
        /* The clock wraps. A pause is at most as long as a script may have it. */
        CHECK_STEPS("sleep 200ms\ntype a\n", { .kind = INPUT_KEY, .time_ms = 200, .key = "a", .letter = "a" });
        CHECK_STEPS("sleep 3600000ms\ntype a\n", { .kind = INPUT_KEY, .time_ms = 2000000000, .key = "a", .letter = "a" });
        /* A hand that trembles clicks; one that moves drags. */
        CHECK_STEPS(MAIN "click 10 20\nsleep 200ms\npress 10 20 ctrl+3\nsleep 60ms\nmove 30 40\nsleep 100ms\nrelease 50 0 ctrl+3\n",
                    BUTTON(INPUT_PRESS, 900, 10, 20, 1), BUTTON(INPUT_MOVE, 940, 12, 18, 0), BUTTON(INPUT_RELEASE, 1000, 12, 18, 1),
                    { .kind = INPUT_PRESS, .time_ms = 1100, .x = 10, .y = 20, .button = 3, .modifiers = SCRIPT_CTRL },
                    BUTTON(INPUT_MOVE, 1160, 30, 40, 0), BUTTON(INPUT_MOVE, 1170, 40, 50, 0),
                    { .kind = INPUT_RELEASE, .time_ms = 1260, .x = 50, .y = -7, .button = 3, .modifiers = SCRIPT_CTRL });
        CHECK_STEPS(MAIN "scroll 5 6 down 2\nscroll 5 6 shift+down\nsleep 100ms\nscroll 5 6 up\n", BUTTON(INPUT_PRESS, 900, 5, 6, 5),
                    BUTTON(INPUT_RELEASE, 900, 5, 6, 5), BUTTON(INPUT_PRESS, 920, 5, 6, 5), BUTTON(INPUT_RELEASE, 920, 5, 6, 5),
                    { .kind = INPUT_PRESS, .time_ms = 930, .x = 5, .y = 6, .button = 5, .modifiers = SCRIPT_SHIFT },
                    BUTTON(INPUT_PRESS, 1030, 5, 6, 4));
        /* Motion is thinned. */
        CHECK_STEPS(MAIN "move 10 10\nsleep 100ms\nmove 40 40\n", BUTTON(INPUT_MOVE, 900, 10, 10, 0), BUTTON(INPUT_MOVE, 930, 20, 20, 0),
                    BUTTON(INPUT_MOVE, 960, 30, 30, 0), BUTTON(INPUT_MOVE, 1000, 40, 40, 0), BUTTON(INPUT_MOVE, 1200, 41, 41, 0));
        /* The pause before something in a window that is new counts from when it came. */
        CHECK_STEPS(MAIN "sleep 100ms\nkey F1\n# a window of 100x50\nwait-window Dialog\nsleep 1000ms\nkey Return\n",
                    KEY(1000, "F1", NULL), { .kind = INPUT_KEY, .time_ms = 8000, .window = &dialog, .key = "Return" });
        CHECK_STEPS(MAIN "sleep 100ms\nclose-window Main\n", { .kind = INPUT_CLOSE, .time_ms = 1000, .window = &window });
}

static void check_letter(const char *text, long letter)
{
        char written[LETTER_BYTES_MAX];
        const char *at = text;

        check_int(letter_next(&at), letter);
        if (letter < 0)
                return;
        check(!*at);
        letter_write((unsigned long)letter, written);
        check_text(written, text);
}

static void check_letters(void)
{
        check_letter("a", 'a');
        check_letter("\303\244", 0xe4);
        check_letter("\342\202\254", 0x20ac);
        check_letter("\360\237\230\200", 0x1f600);
        check_letter("\303", -1);
        check_letter("\244", -1);
        check_letter("\300\200", -1);
        check_letter("\370\210\200\200\200", -1);
}

static void check_us_key(const char *name, unsigned code, bool shifted)
{
        struct us_key key = { 0 };

        check(us_keyboard_name(name, &key) == (code > 0));
        check_int(key.code, code);
        check_int(key.shifted, shifted);
}

static void check_us_keyboard(void)
{
        struct us_keyboard keyboard = { .n = 0 };
        char keymap[US_KEYBOARD_KEYMAP_MAX];
        struct us_key key;

        check_us_key("a", 30, false);
        check_us_key("A", 30, true);
        check_us_key("|", 43, true);
        check_us_key("/", 53, false);
        check_us_key("plus", 13, true);
        check_us_key("Return", 28, false);
        check_us_key("ISO_Left_Tab", 15, true);
        check_us_key("Hyper", 0, false);
        check_us_key("", 0, false);
        for (long letter = ' '; letter < 0x7f; letter++)
                check(us_keyboard_letter(&keyboard, letter, false, &key) && key.code > 0);
        check(!us_keyboard_letter(&keyboard, 0x7f, true, &key) && !us_keyboard_letter(&keyboard, 0x85, true, &key));
        check(!us_keyboard_letter(&keyboard, 0xe4, false, &key));
        for (long i = 0; i < US_KEYBOARD_LETTERS_MAX; i++)
                check(us_keyboard_letter(&keyboard, 0xe4 + i, true, &key) && key.code == 183 + (unsigned)i && !key.shifted);
        check(us_keyboard_letter(&keyboard, 0xe5, false, &key) && key.code == 184);
        check(!us_keyboard_letter(&keyboard, 0x20ac, true, &key));
        us_keyboard_keymap(&keyboard, keymap);
        check(strstr(keymap, "replace key <FK24> { [ U00EF ] };\n};\n};\n") != NULL);
}

static void check_keys(void)
{
        char keys[TERMINAL_KEYS_MAX];

        check(terminal_keys_send("ctrl+c", keys) && strcmp(keys, "\003") == 0);
        check(terminal_keys_send("Up", keys) && strcmp(keys, "\033[A") == 0);
        check(terminal_keys_send("a", keys) && strcmp(keys, "a") == 0);
        check(!terminal_keys_send("Hyper", keys) && !terminal_keys_send("", keys) && !terminal_keys_send("ctrl+", keys));
        check_typed("echo  a b\r", 0, "type echo  a b\nkey Return\n");
        check_typed(" a ", 0, "key space\ntype a\nkey space\n");
        check_typed("\033[A\033OB\177\t\003", 0, "key Up\nkey Down\nkey BackSpace\nkey Tab\nkey ctrl+c\n");
        check_typed("\033", 0, "key Escape\n");
        check_typed("a\033[1;5Cb\033x\034", 9, "type a\ntype b\n");
        check_typed("# \303\244", 0, "type # \303\244\n");
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

/* The numbers of a stack as digits. */
static const char *digits(struct words *stacks, uint32_t stack, char *buf, size_t size)
{
        size_t length, n = 0;
        const char *bytes = words_bytes(stacks, stack, &length);

        for (size_t i = 0; i < length && n + 1 < size; i += sizeof(uint32_t)) {
                uint32_t number;

                memcpy(&number, bytes + i, sizeof(number));
                buf[n++] = (char)('0' + number % 10);
        }
        buf[n] = '\0';
        return buf;
}

static void check_causes(void)
{
        struct words *stacks = words_new();
        struct causes *causes;
        uint32_t first, second, other, deep = CAUSE_NONE, stack;
        char text[4096];

        check_int(causes_new(stacks, &causes), 0);
        check_int(causes_add(causes, CAUSE_NONE, (uint32_t[]){ 1, 2 }, 2, &first), 0);
        check_int(causes_add(causes, first, (uint32_t[]){ 3 }, 1, &second), 0);
        check_int(causes_stack(causes, second, (uint32_t[]){ 4, 5 }, 2, &stack), 0);
        check_text(digits(stacks, stack, text, sizeof(text)), "12345");
        check_int(causes_stack(causes, CAUSE_NONE, (uint32_t[]){ 4, 5 }, 2, &stack), 0);
        check_text(digits(stacks, stack, text, sizeof(text)), "45");
        check_int(causes_root(causes, second), 1);
        /* What asks for its own repetition, also by way of others, stays where it is. */
        check_int(causes_add(causes, second, (uint32_t[]){ 3 }, 1, &other), 0);
        check_int(other, second);
        check_int(causes_add(causes, second, (uint32_t[]){ 1, 2 }, 2, &other), 0);
        check_int(other, first);
        for (uint32_t i = 0; i < 1000; i++)
                check_int(causes_add(causes, deep, (uint32_t[]){ i, 7 }, 2, &deep), 0);
        check_int(causes_stack(causes, deep, NULL, 0, &stack), 0);
        check_int(strlen(digits(stacks, stack, text, sizeof(text))), 2 * CAUSES_DEEP_MAX);
        causes_free(causes);
        words_free(stacks);
}

static uint32_t cause_at(struct work *work, pid_t pid, pid_t tid, uint64_t sp)
{
        const struct anchors *anchors = work_anchors(work, pid, tid);

        for (size_t i = anchors->n; i > 0; i--)
                if (anchors->list[i - 1].sp == sp)
                        return work_cause(work, tid, (int)i - 1);
        return work_cause(work, tid, -1);
}

static void check_work(void)
{
        struct work *work;
        uint64_t pieces, placed;

        check_int(work_new(&work), 0);
        /* Two loops, one inside of the other. */
        work_attached(work, 1, 1, 0xa0, 5);
        work_attached(work, 1, 1, 0xb0, 6);
        work_dispatch(work, 1, 1, 0xa0, 0xf1, 1000);
        check_int(cause_at(work, 1, 1, 1000), 5);
        work_dispatch(work, 1, 1, 0xb0, 0xf2, 800);
        check_int(cause_at(work, 1, 1, 800), 6);
        check_int(cause_at(work, 1, 1, 1000), 5);
        work_dispatched(work, 1, 1, 0xf1, 700); /* a function that is let go elsewhere */
        check_int(cause_at(work, 1, 1, 800), 6);
        work_dispatched(work, 1, 1, 0xf1, 1000);
        check(cause_at(work, 1, 1, 800) == CAUSE_NONE && cause_at(work, 1, 1, 1000) == CAUSE_NONE);
        work_dispatch(work, 1, 1, 0xb0, 0xf2, 900);
        work_dispatch(work, 1, 1, 0xc0, 0xf3, 1000); /* was never attached */
        check(cause_at(work, 1, 1, 900) == CAUSE_NONE && cause_at(work, 1, 1, 1000) == CAUSE_NONE);
        /* Another process has other sources at the same addresses. */
        work_dispatch(work, 2, 2, 0xa0, 0xf1, 1000);
        check(cause_at(work, 2, 2, 1000) == CAUSE_NONE);
        /* A pool: its thread has a cause until it asks again. */
        work_pushed(work, 1, 0x9, 0x77, 8);
        work_asked(work, 1, 3, 0x9, 500, 0x4444, true);
        check_int(work_anchors(work, 1, 3)->back, 0x4444);
        work_taken(work, 1, 3, 0x77);
        check_int(work_anchors(work, 1, 3)->back, 0);
        check_int(work_cause(work, 3, -1), 8);
        work_asked(work, 1, 3, 0x9, 500, 0x4444, true);
        check(work_cause(work, 3, -1) == CAUSE_NONE);
        work_taken(work, 1, 3, 0);
        check(work_cause(work, 3, -1) == CAUSE_NONE);
        /* A queue of the program's own: the function that took it does it. */
        work_pushed(work, 1, 0x9, 0x77, 8);
        work_asked(work, 1, 4, 0x9, 500, 0x5555, false);
        work_taken(work, 1, 4, 0x77);
        check_int(work_anchors(work, 1, 4)->list[0].back, 0x5555);
        check_int(cause_at(work, 1, 4, 500), 8);
        /* The same number twice by different calls: it cannot be told which one is taken. */
        work_pushed(work, 1, 0x9, 1, 8);
        work_pushed(work, 1, 0x9, 1, 9);
        work_asked(work, 1, 4, 0x9, 500, 0x5555, false);
        work_taken(work, 1, 4, 1);
        check(cause_at(work, 1, 4, 500) == CAUSE_NONE);
        work_counts(work, &pieces, &placed);
        check_int(pieces, 8);
        check_int(placed, 5);
        work_forget(work, 1);
        work_dispatch(work, 1, 1, 0xa0, 0xf1, 1000);
        check(cause_at(work, 1, 1, 1000) == CAUSE_NONE);
        work_free(work);
}

static void check_work_tasks(void)
{
        struct work *work;

        check_int(work_new(&work), 0);
        work_task(work, 1, 1, 20, 500, 0x6666);
        check_int(work_anchors(work, 1, 1)->back, 0x6666);
        work_task_made(work, 1, 1, 0x7a);
        check_int(work_anchors(work, 1, 1)->back, 0);
        work_task_attach(work, 1, 7, 0x7a, 0xd0); /* another thread ends it */
        work_attached(work, 1, 7, 0xd0, 21);
        work_attached(work, 1, 7, 0xd0 + 1, 22); /* and attaches one of its own */
        work_task_attach(work, 1, 7, 0x7b, 0xd2); /* a task that was not seen to be made */
        work_attached(work, 1, 7, 0xd2, 23);
        for (uint64_t i = 0; i < 3; i++) {
                static const uint32_t causes[] = { 20, 22, 23 };

                work_dispatch(work, 1, 1, 0xd0 + i, 0xf1, 1000);
                check_int(cause_at(work, 1, 1, 1000), causes[i]);
                work_dispatched(work, 1, 1, 0xf1, 1000);
        }
        work_free(work);
}

static const char message[] = "l\1\0\1" "\0\0\0\0" "\7\0\0\0" "\x5d\0\0\0"
                              "\1\1o\0" "\2\0\0\0" "/a\0\0\0\0\0\0"
                              "\2\1s\0" "\3\0\0\0" "i.f\0\0\0\0\0"
                              "\3\1s\0" "\4\0\0\0" "Call\0\0\0\0"
                              "\6\1s\0" "\4\0\0\0" ":1.9\0\0\0\0"
                              "\10\1g\0" "\1s\0\0"
                              "\11\1u\0" "\0\0\0\0"
                              "\7\1s\0" "\4\0\0\0" ":1.5\0";

static void check_dbus_header(void)
{
        struct dbus_header header;
        char bytes[sizeof(message)];
        size_t n = sizeof(message) - 1;

        check_int(dbus_header_parse(message, n, &header), 0);
        check_int(header.type, DBUS_HEADER_CALL);
        check_int(header.serial, 7);
        check_text(header.path, "/a");
        check_text(header.interface, "i.f");
        check_text(header.member, "Call");
        check_text(header.destination, ":1.9");
        check_text(header.sender, ":1.5");
        for (size_t cut = 0; cut < n; cut++)
                check_int(dbus_header_parse(message, cut, &header), -EINVAL);
        for (size_t i = 0; i < n; i++) { /* whatever a byte is, it reads no further */
                memcpy(bytes, message, sizeof(bytes));
                bytes[i] = (char)(bytes[i] + 77);
                (void)dbus_header_parse(bytes, n, &header);
        }
}

static uint32_t receive(struct messages *messages, pid_t pid, uint32_t serial, const char *sender, const char *destination)
{
        struct dbus_header header = { .type = DBUS_HEADER_CALL, .serial = serial };
        uint32_t cause = 99;

        snprintf(header.path, sizeof(header.path), "/a");
        snprintf(header.member, sizeof(header.member), "Call");
        snprintf(header.sender, sizeof(header.sender), "%s", sender);
        snprintf(header.destination, sizeof(header.destination), "%s", destination);
        check_int(messages_receive(messages, pid, &header, &cause), 0);
        return cause;
}

static void send_call(struct messages *messages, pid_t pid, uint32_t serial, const char *destination, uint32_t cause)
{
        check_int(messages_make(messages, pid, destination, "/a", "", "Call"), 0);
        check_int(messages_send(messages, pid, pid, serial, cause), 0);
}

static void check_messages(void)
{
        struct messages *messages;

        check_int(messages_new(&messages), 0);
        send_call(messages, 1, 7, ":1.9", 20);
        check(receive(messages, 2, 7, ":1.5", ":1.9") == CAUSE_NONE); /* nobody is known to be :1.5 */
        check(receive(messages, 1, 1, ":1.9", ":1.5") == CAUSE_NONE);
        check_int(receive(messages, 2, 7, ":1.5", ":1.9"), 20);
        check_int(receive(messages, 2, 7, ":1.5", ":1.9"), 20); /* a signal comes to several, and so may this */
        check(receive(messages, 2, 8, ":1.5", ":1.9") == CAUSE_NONE);
        check(receive(messages, 2, 7, ":1.6", ":1.9") == CAUSE_NONE);
        check(receive(messages, 2, 7, ":1.5", "a.name") == CAUSE_NONE); /* on another bus, where :1.5 is somebody else */
        check_int(messages_send(messages, 1, 1, 9, 21), 0); /* an answer, which was not made as a call */
        check(receive(messages, 2, 9, ":1.5", ":1.9") == CAUSE_NONE);
        send_call(messages, 1, 7, ":1.9", 22); /* by another connection */
        check(receive(messages, 2, 7, ":1.5", ":1.9") == CAUSE_NONE);
        send_call(messages, 1, 10, ":1.9", 23);
        check(receive(messages, 3, 1, ":1.9", ":1.5") == CAUSE_NONE); /* :1.5 is another one on another bus */
        check(receive(messages, 2, 10, ":1.5", ":1.9") == CAUSE_NONE);
        messages_free(messages);
}

static void check_work_messages(void)
{
        struct work *work;
        uint64_t pieces, placed;

        check_int(work_new(&work), 0);
        work_message(work, 1, 7, 30);
        work_attached(work, 1, 7, 0xa0, 31);
        work_task_attach(work, 1, 7, 0x7a, 0xa1); /* to read what comes next */
        work_attached(work, 1, 7, 0xa1, 33);
        work_dispatch(work, 1, 7, 0xa1, 0xf1, 1000);
        work_attached(work, 1, 7, 0xa2, 34);
        work_message(work, 1, 7, CAUSE_NONE);
        work_attached(work, 1, 7, 0xa3, 35);
        for (uint64_t i = 0; i < 4; i++) {
                static const uint32_t causes[] = { 30, 33, 34, CAUSE_NONE };

                work_dispatch(work, 1, 1, 0xa0 + i, 0xf1, 1000);
                check_int(cause_at(work, 1, 1, 1000), causes[i]);
        }
        work_counts(work, &pieces, &placed);
        check_int(pieces, 5);
        check_int(placed, 4);
        work_free(work);
}

int main(void)
{
        check_causes();
        check_work();
        check_work_tasks();
        check_work_messages();
        check_dbus_header();
        check_messages();
        check_names();
        check_cxx();
        check_waking();
        check_waking_automaton();
        check_gpu();
        check_perf_map();
        check_format();
        check_records();
        check_script();
        check_input_steps();
        check_letters();
        check_us_keyboard();
        check_words();
        check_keys();
        return check_result();
}
