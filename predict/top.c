/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* `joulecast top`: what draws power now, by app, on a terminal or as lines of text. */

#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <time.h>
#include <wchar.h>

#include "api/joulecast-private.h"
#include "commands.h"
#include "names.h"
#include "state.h"
#include "top-feed.h"
#include "top-list.h"
#include "top-page.h"
#include "top-screen.h"
#include "top-view.h"
#include "util/paths.h"
#include "util/table.h"
#include "util/units.h"
#include "util/util.h"
#include "util/words.h"

#define INTERVAL_S 2
#define RECORDED_S 60   /* time between two looks at the records */
#define PLAIN_COLUMNS 80

static const char *const hints[] = { N_("q quit"),    N_("/ filter"),      N_("s sort"),
                                     N_("w what if"), N_("Enter history"), N_("e since"),
                                     N_("r reverse"), N_("h help"),        NULL };

struct top {
        struct options options;
        double interval_s;
        uint64_t batch;         /* 0: on a terminal */
        bool once;
        const char *collector, *sort, *filter;
        struct moment from;
        int64_t to_ns;

        struct ask ask;
        struct top_feed *feed;
        struct log log;
        struct top_list list;
        struct desktop_index *index;
        bool ascii;
        bool on_screen;
        char said[512];         /* the library's last sentence */

        struct top_reading last; /* its cost was freed */
        int64_t recorded_ns;    /* boottime of the last look at the records; 0: never */
        char remaining[96];
        int signal_fd, timer_fd;
};

static void top_close(struct top *top)
{
        top_screen_close();
        top_feed_close(top->feed);
        ask_close(&top->ask);
        top_table_clear(&top->list.table);
        desktop_index_free(top->index);
        closep(&top->signal_fd);
        closep(&top->timer_fd);
}

static void keep_said(void *data, enum joulecast_level level, const char *sentence)
{
        struct top *top = data;

        if (level == JOULECAST_ERROR)
                snprintf(top->said, sizeof(top->said), "%s", sentence);
}

/* A line on stderr would spoil the screen. */
static void tell(void *data, enum log_level level, const char *sentence)
{
        struct top *top = data;

        if (top->on_screen)
                snprintf(top->list.message, sizeof(top->list.message), "%s", sentence);
        else
                program_log.handler(program_log.data, level, sentence);
}

/* True if the user's terminal cannot show UTF-8; strings in this program are UTF-8 all the same. */
static bool wants_ascii(void)
{
        bool ascii = !setlocale(LC_CTYPE, "") || strcmp(nl_langinfo(CODESET), "UTF-8") != 0;

        setlocale(LC_CTYPE, "C.UTF-8");
        if (ascii)
                words_stop(); /* ASCII has no letters of other languages */
        return ascii;
}

static void say_remaining(struct top *top, const struct joulecast_budget *budget)
{
        struct joulecast_value minutes = ask_told_minutes(budget);
        char low[32], likely[32];

        *top->remaining = '\0';
        if (isnan(minutes.value))
                return;
        ask_minutes(minutes.value, minutes.low, likely);
        if (isnan(minutes.low))
                snprintf(top->remaining, sizeof(top->remaining), _("about %s left"), likely);
        else
                snprintf(top->remaining, sizeof(top->remaining), _("at least %s left, probably %s"),
                         ask_minutes(minutes.low, minutes.value, low), likely);
}

/* Reads the energies since the last full charge, as in `joulecast cost`. */
static int read_since(struct top *top)
{
        struct joulecast_cost *cost = NULL;
        int64_t since_ns = INT64_MIN;
        int err = joulecast_usage_since(top->ask.usage, JOULECAST_SINCE_FULL, &since_ns);

        if (!err)
                err = joulecast_cost_new(top->ask.profile, top->ask.usage, since_ns, INT64_MAX, &cost);
        if (!err) {
                names_localise(top->index, cost->cost);
                err = top_table_recorded(&top->list.table, cost->cost, top->ascii);
        }
        if (!err && !top->list.has_full)
                top->list.table.since = TOP_SINCE_FULL;
        top->list.has_full = top->list.has_full || !err;
        joulecast_cost_free(cost);
        return err == -ENOMEM ? err : 0;
}

static int read_recorded(struct top *top)
{
        int64_t now_ns = (int64_t)util_boottime_ns();
        struct joulecast_budget *budget = NULL;
        int err;

        if (!top->ask.usage || top_feed_kind(top->feed) == TOP_RECORDED ||
            (top->recorded_ns && now_ns - top->recorded_ns < RECORDED_S * (int64_t)NS_PER_S))
                return 0;
        top->recorded_ns = now_ns;
        err = read_since(top);
        if (!err && state_budget(&top->ask, &budget) == 0 && budget)
                say_remaining(top, budget);
        joulecast_budget_free(budget);
        return err;
}

/* Takes the next reading. 0; 1: there was nothing new; -ENODATA: the recording ends; another negative errno. */
static int look(struct top *top)
{
        struct top_reading reading;
        int err = top_feed_read(top->feed, &reading);

        if (err)
                return err;
        if (!reading.cost)
                return 1;
        names_localise(top->index, reading.cost);
        err = top_table_update(&top->list.table, &reading, top->ascii);
        cost_free(reading.cost);
        reading.cost = NULL;
        top->last = reading;
        return err ? err : read_recorded(top);
}

static const char *about(const struct top *top)
{
        switch (top_feed_kind(top->feed)) {
        case TOP_RECORDED:
                return _("as recorded");
        case TOP_SERVICE:
                return top_feed_own_only(top->feed) ? _("your apps, other users' as one") : _("all apps");
        default:
                return top_feed_own_only(top->feed) ? _("your processes; the service would show more") : _("all apps");
        }
}

static void make_frame(const struct top *top, char *words, size_t size, struct top_frame *ret)
{
        const char *basis = profile_basis(top->ask.profile->profile);

        snprintf(words, size,
                 top->list.table.since == TOP_SINCE_FULL ? _("used since full charge; %s%s") :
                                                           _("used since start; %s%s"),
                 about(top), strcmp(basis, "calibrated") == 0 ? "" : _("; by a usual device's numbers"));
        *ret = (struct top_frame){
                .table = &top->list.table,
                .profile = top->ask.profile->profile,
                .ascii = top->ascii,
                .time_ns = top->last.time_ns ? top->last.time_ns : values_now_ns(),
                .percent = top->last.time_ns ? top->last.percent : NAN,
                .plugged = top->last.time_ns ? top->last.plugged : -1,
                .remaining = top->remaining,
                .about = words,
                .message = top->list.message,
                .filtering = top->list.filtering,
        };
}

static int print_batch(const struct top *top)
{
        const char *columns = getenv("COLUMNS");
        struct top_view view = { 0 };
        struct top_frame frame;
        char words[160];
        uint64_t given;
        int err = 0;

        make_frame(top, words, sizeof(words), &frame);
        frame.columns = table_columns();
        if (frame.columns == 0)
                frame.columns = columns && util_parse_u64(columns, &given) == 0 && given > 0 && given < 1000 ?
                                        (size_t)given :
                                        PLAIN_COLUMNS;
        top_view_make(&frame, &view);
        for (size_t i = 0; !view.failed && i < view.n; i++)
                if (puts(view.lines[i].text) == EOF)
                        err = -errno;
        err = view.failed ? -ENOMEM : err;
        top_view_clear(&view);
        return err ? err : puts("") == EOF || fflush(stdout) == EOF ? -errno : 0;
}

static void draw_page(const struct top *top, struct top_frame *frame, struct top_view *view)
{
        const struct top_subject subject = { &top->ask,      top_list_selected(&top->list),
                                             top->said,      frame->columns,
                                             frame->lines,   top->ascii,
                                             values_now_ns() };

        if (top->list.page == TOP_PAGE_HISTORY)
                top_page_history(&subject, view);
        else
                top_page_gain(&subject, view);
        while (view->n + 1 < frame->lines)
                top_view_add(view, TOP_PLAIN, "");
        top_view_pieces(view, TOP_FAINT, frame->columns, frame->ascii,
                        (const char *const[]){ _("any key: back"), NULL });
}

static int draw(struct top *top)
{
        struct top_view view = { 0 };
        struct top_frame frame;
        char words[160];
        int err;

        make_frame(top, words, sizeof(words), &frame);
        top_screen_size(&frame.columns, &frame.lines);
        frame.hints = hints;
        if (top->list.page != TOP_PAGE_LIST && top_list_selected(&top->list)) {
                draw_page(top, &frame, &view);
        } else {
                top_list_follow(&top->list, top_view_room(&frame));
                frame.first = top->list.first;
                frame.selected = top->list.at;
                top_view_make(&frame, &view);
        }
        err = view.failed ? -ENOMEM : 0;
        if (!err)
                top_screen_draw(&view);
        top_view_clear(&view);
        return err;
}

/* How many rows of apps the screen has. */
static size_t room_of(const struct top *top)
{
        struct top_frame frame = { .table = &top->list.table, .hints = hints };
        size_t columns;

        top_screen_size(&columns, &frame.lines);
        return MAX(top_view_room(&frame), (size_t)1);
}

static int press_all(struct top *top)
{
        unsigned key;

        while ((key = top_screen_key()) != TOP_KEY_NONE) {
                int err = top_list_press(&top->list, key, room_of(top)) ? -ECANCELED :
                                                                          top_table_arrange(&top->list.table);

                if (err)
                        return err;
        }
        return draw(top);
}

/*
 * Signals that are handled on a terminal: those that would end this process, so that it restores the terminal first,
 * and those that concern a screen. Without a screen signals have their default effect.
 */
static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGXCPU,
                               SIGIO,  SIGPWR,  SIGTSTP, SIGCONT, SIGWINCH };

static int hear(struct top *top)
{
        struct signalfd_siginfo heard;

        if (read(top->signal_fd, &heard, sizeof(heard)) != sizeof(heard))
                return 0;
        if (heard.ssi_signo == SIGTSTP)
                top_screen_stop(SIGTSTP);
        else if (heard.ssi_signo == SIGCONT || heard.ssi_signo == SIGWINCH)
                top_screen_renew();
        else
                return -ECANCELED;
        return draw(top);
}

static int prepare_to_wait(struct top *top)
{
        bool recorded = top_feed_kind(top->feed) == TOP_RECORDED;
        uint64_t every_ns = (uint64_t)(top->interval_s * 1e9), first_ns = MIN(every_ns, NS_PER_S);
        const struct itimerspec timer = {
                .it_interval = { (time_t)(every_ns / NS_PER_S), (long)(every_ns % NS_PER_S) },
                .it_value = { (time_t)(first_ns / NS_PER_S), (long)(first_ns % NS_PER_S) },
        };
        sigset_t set;

        sigemptyset(&set);
        for (size_t i = 0; i < ARRAY_SIZE(signals) && !top->batch; i++)
                sigaddset(&set, signals[i]);
        signal(SIGPIPE, SIG_IGN); /* we end when our reader does */
        if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
                return -errno;
        top->signal_fd = signalfd(-1, &set, SFD_CLOEXEC);
        top->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
        if (top->signal_fd < 0 || top->timer_fd < 0)
                return -errno;
        if (recorded && top->batch) /* no need to wait: the polls are recorded already */
                return 0;
        return timerfd_settime(top->timer_fd, 0, &timer, NULL) < 0 ? -errno : 0;
}

/* Shows the next reading. At the end of a recording the last one stays on the screen. */
static int show(struct top *top, uint64_t *shown)
{
        int err = look(top);

        if (err == 0 && top->batch) {
                ++*shown;
                return print_batch(top);
        }
        if (err == -ENODATA && !top->batch && top->last.time_ns) {
                snprintf(top->list.message, sizeof(top->list.message), "%s", _("the recording ends here"));
                err = 0;
        }
        if (err < 0)
                return err;
        return top->batch ? 0 : draw(top);
}

/* Until the next look. */
static int wait_and_hear(struct top *top)
{
        for (;;) {
                struct pollfd fds[] = { { .fd = top->signal_fd, .events = POLLIN },
                                        { .fd = top->timer_fd, .events = POLLIN },
                                        { .fd = top->batch ? -1 : STDIN_FILENO, .events = POLLIN } };
                uint64_t expired;
                int err = 0;

                if (poll(fds, ARRAY_SIZE(fds), -1) < 0 && errno != EINTR)
                        return -errno;
                if (fds[0].revents)
                        err = hear(top);
                if (!err && (fds[2].revents & (POLLHUP | POLLERR | POLLNVAL)))
                        return -ECANCELED; /* the terminal is gone */
                if (!err && fds[2].revents)
                        err = press_all(top);
                if (err)
                        return err;
                if (fds[1].revents && read(top->timer_fd, &expired, sizeof(expired)) == sizeof(expired))
                        return 0;
        }
}

static int run(struct top *top)
{
        bool at_once = top_feed_kind(top->feed) == TOP_RECORDED && top->batch;
        uint64_t shown = 0;
        int err = show(top, &shown);

        while (!err && (top->batch == 0 || shown < top->batch)) {
                err = at_once ? 0 : wait_and_hear(top);
                if (!err)
                        err = show(top, &shown);
        }
        if (err == -EPIPE)
                clearerr(stdout);
        return err == -ECANCELED || err == -EPIPE || (err == -ENODATA && shown > 0) ? 0 : err;
}

static enum top_sort find_sort(const char *name)
{
        int sort = 0;

        while (sort + 1 < (int)TOP_SORTS && strcmp(top_sort_name((enum top_sort)sort), name) != 0)
                sort++;
        return (enum top_sort)sort;
}

/* CODE_OK, or CODE_USAGE after its sentence. */
static int check_options(const struct top *top)
{
        const char *wrong = NULL;
        bool past = top->from.word || top->from.ns != INT64_MIN;

        if (!top->from.word && top->from.ns >= top->to_ns)
                wrong = N_("--from is not before --to; see joulecast top --help");
        else if (top->options.json)
                wrong = N_("joulecast trace --json writes the same for programs, a line for each interval");
        else if (!past && top->options.device)
                wrong = N_("top is for this machine; of a virtual device it shows what simulate recorded, "
                           "with --from T");
        else if (past && (top->collector || top->options.machine))
                wrong = N_("--collector and --machine are for what happens now; leave out --from");
        else if (!top->batch && !(isatty(STDIN_FILENO) && isatty(STDOUT_FILENO)))
                wrong = N_("this is no terminal; --batch N prints the same rows as text, N times, --once once");
        if (wrong)
                log_error(&program_log, "%s", _(wrong));
        return wrong ? CODE_USAGE : CODE_OK;
}

static int open_all(struct top *top)
{
        struct top_feed_options feed = { .options = &top->options, .collector = top->collector, .ask = &top->ask,
                                         .to_ns = top->to_ns, .ends_alone = top->batch > 0, .log = &top->log };
        int code = ask_try(&top->options, keep_said, top, &top->ask);
        bool past = top->from.word || top->from.ns != INT64_MIN;

        if (code != CODE_OK || (past && !top->ask.usage)) {
                if (*top->said)
                        log_error(&program_log, "%s", top->said);
                return code != CODE_OK ? code : CODE_NO_DATA;
        }
        if (past && ask_moment(top->ask.usage, &top->from) != CODE_OK)
                return CODE_NO_DATA;
        feed.profile = top->ask.profile->profile;
        feed.from_ns = top->from.ns;
        top->index = top->options.machine || top->options.device ? NULL : desktop_index_of_user();
        return top_feed_open(&feed, &top->feed);
}

static int start(struct top *top)
{
        int code = open_all(top), err;

        if (code != CODE_OK)
                return code;
        err = prepare_to_wait(top);
        if (!err && !top->batch) {
                if (top_screen_open(&program_log) < 0)
                        return CODE_FAILED;
                top->on_screen = true;
        }
        if (!err)
                err = run(top);
        top_screen_close();
        top->on_screen = false;
        if (err == -ENODATA)
                log_error(&program_log, "no polls of that time are kept; joulecast cost has the sums of older ones");
        else if (err == -ETIMEDOUT)
                log_error(&program_log, "the service has not answered for %d seconds; see %s status joulecastd",
                          TOP_GONE_S, paths_systemctl());
        else if (err && err != -ENOMEM)
                log_error(&program_log, "%s: %s",
                          ferror(stdout) ? _("the rows could not be written") : _("top stopped"),
                          strerror(-err));
        return !err ? CODE_OK : err == -ENODATA ? CODE_NO_DATA : CODE_FAILED;
}

static int take_interval(const char *text, void *data)
{
        double seconds, minutes = NAN;
        int err = util_parse_double(text, &seconds);

        if (err < 0) {
                err = values_parse_minutes(text, &minutes);
                seconds = minutes * 60;
        }
        if (err < 0)
                return err;
        if (!(seconds >= 0.5 && seconds <= 3600))
                return -ERANGE;
        *(double *)data = seconds;
        return 0;
}

int top_main(int argc, char **argv)
{
        _cleanup_(top_close) struct top top = { .interval_s = INTERVAL_S, .from.ns = INT64_MIN, .to_ns = INT64_MAX,
                                                .signal_fd = -1, .timer_fd = -1 };
        const struct option_row rows[] = {
                { "interval", "S", N_("time between updates: seconds, or a time like 2s or 1m"), .usual = "2",
                  .parse = take_interval, .data = &top.interval_s, .wants = N_("seconds, or a time like 2s or 1m"),
                  .range = N_("from half a second to an hour") },
                { "batch", "N", N_("print the rows N times as text, for scripts"), .count = &top.batch, .low = 1 },
                { "once", .help = N_("the same as --batch 1"), .flag = &top.once },
                { "sort", "BY", N_("first order of the rows: power, used, name, cpu, display, disk, wifi or gpu"),
                  .usual = "power", .text = &top.sort, .words = "power used name cpu display disk wifi gpu" },
                { "filter", "TEXT", N_("show only apps whose name or id has this text in it"), .text = &top.filter },
                { "collector", "NAME", N_("do not ask the service, but read processes in this way (joulecast doctor "
                                          "lists the ways)"),
                  .text = &top.collector },
                OPTIONS_FROM(&top.from),
                { "to", "T", N_("end: a time as with --from"), OPTION_TIME(&top.to_ns) },
        };
        const struct option_table command = {
                .called = "joulecast top",
                .usage = "joulecast top [--interval S] [--batch N|--once] [--sort BY]\n"
                         "              [--filter TEXT]\n"
                         "joulecast top --from T | --since WHAT [--to T] [--batch N]",
                /* xgettext:no-c-format */
                .about = N_("What draws power now: each app in the foreground and in the background, its power with "
                            "95 % confidence, percent of the battery an hour, and what it used since the last full "
                            "charge, or since top started. The service is asked, so that no root is needed; it "
                            "shows you your own apps, and other users' as one. With --from or --since it replays "
                            "recorded polls, one every S seconds."),
                .rows = rows, .n_rows = ARRAY_SIZE(rows),
                .after = N_("Keys:\n"
                         "      arrows, Page Up/Down, Home, End: select a row    q: quit\n"
                         "      order by p power, u use, n name, c CPU, d display, i disk, t WiFi, g GPU\n"
                         "      s: next order    r: reverse the order\n"
                         "      /: filter    Esc: end the filter    Enter: the app's last hours\n"
                         "      w: minutes gained if the app were closed\n"
                         "      e: used since the last full charge, or since start"),
        };
        int code = options_parse(&command, SHARED_ASK & ~SHARED_JSON, argc, argv, &top.options);

        if (code >= 0)
                return code;
        if (top.once)
                top.batch = 1;
        code = check_options(&top);
        if (code != CODE_OK)
                return code;
        top.log = (struct log){ tell, &top };
        top.ascii = wants_ascii();
        if (top.sort)
                top.list.table.sort = find_sort(top.sort);
        if (top.filter)
                util_printable(top.filter, top.list.table.filter, sizeof(top.list.table.filter));
        return start(&top);
}
