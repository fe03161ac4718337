/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "top-screen.h"

#define NCURSES_WIDECHAR 1
#include <curses.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "util/util.h"

#define ESCAPE_MS 25 /* wait after ESC: it is a key of its own, or the begin of another's sequence */

static SCREEN *screen;
static struct termios before;   /* settings of the terminal before */
static char leave[128];         /* sequence that gives the screen back; a signal handler may not call ncurses */
static volatile sig_atomic_t is_open;

static const int faults[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };

/* Restores the terminal when the program crashes. */
static void give_back(int number)
{
        if (is_open) {
                (void)!write(STDOUT_FILENO, leave, strlen(leave));
                tcsetattr(STDIN_FILENO, TCSANOW, &before);
        }
        if (number == SIGBUS) /* a database file was truncated: this says so */
                util_end_on_shorter_files();
        raise(number); /* SA_RESETHAND */
}

static void catch_faults(void)
{
        const struct sigaction action = { .sa_handler = give_back, .sa_flags = SA_RESETHAND | SA_NODEFER };

        for (size_t i = 0; i < ARRAY_SIZE(faults); i++)
                sigaction(faults[i], &action, NULL);
}

/* A capability without its delays ("$<5>"). */
static void add_capability(const char *name)
{
        const char *text = tigetstr(name);
        size_t length = strlen(leave);

        if (!text || text == (const char *)-1)
                return;
        while (*text && length + 1 < sizeof(leave)) {
                if (text[0] == '$' && text[1] == '<' && strchr(text, '>'))
                        text = strchr(text, '>') + 1;
                else
                        leave[length++] = *text++;
        }
        leave[length] = '\0';
}

static void set_colors(void)
{
        const char *no_color = getenv("NO_COLOR");

        if ((no_color && *no_color) || !has_colors() || start_color() == ERR)
                return;
        use_default_colors();
        init_pair(1, COLOR_GREEN, -1);
        init_pair(2, COLOR_CYAN, -1);
}

int top_screen_open(const struct log *log)
{
        char printable[64];
        const char *term = getenv("TERM");

        tcgetattr(STDIN_FILENO, &before);
        screen = term && *term ? newterm(NULL, stdout, stdin) : NULL;
        if (!screen) {
                log_error(log, "the type of this terminal, TERM=%s, is not known; set TERM, or use joulecast "
                               "top --batch N",
                          util_printable(term ? term : "", printable, sizeof(printable)));
                return -ENODEV;
        }
        *leave = '\0';
        add_capability("sgr0");
        add_capability("cnorm");
        add_capability("rmcup");
        is_open = 1;
        catch_faults();
        set_escdelay(ESCAPE_MS);
        cbreak();
        noecho();
        keypad(stdscr, TRUE);
        nodelay(stdscr, TRUE);
        curs_set(0);
        set_colors();
        top_screen_renew();
        return 0;
}

void top_screen_close(void)
{
        if (!screen)
                return;
        endwin();
        delscreen(screen);
        is_open = 0;
        screen = NULL;
        tcsetattr(STDIN_FILENO, TCSADRAIN, &before);
}

void top_screen_size(size_t *columns, size_t *lines)
{
        *columns = (size_t)COLS;
        *lines = (size_t)LINES;
}

static attr_t attributes_of(enum top_style style)
{
        static const attr_t attributes[] = {
                [TOP_PLAIN] = A_NORMAL,  [TOP_TITLE] = A_BOLD,       [TOP_HEAD] = A_REVERSE, [TOP_FOREGROUND] = A_BOLD,
                [TOP_SELECTED] = A_REVERSE, [TOP_SUM] = A_NORMAL, [TOP_FAINT] = A_DIM,
        };
        attr_t color = style == TOP_FOREGROUND ? COLOR_PAIR(1) : style == TOP_SUM ? COLOR_PAIR(2) : 0;

        return attributes[style] | (has_colors() ? color : 0);
}

void top_screen_draw(const struct top_view *view)
{
        erase();
        for (size_t i = 0; i < view->n && i < (size_t)LINES; i++) {
                const struct top_line *line = &view->lines[i];
                bool whole = line->style == TOP_HEAD || line->style == TOP_SELECTED;

                attrset(attributes_of(line->style));
                mvaddstr((int)i, 0, line->text);
                for (int x = getcurx(stdscr); whole && x < COLS && getcury(stdscr) == (int)i; x++)
                        addch(' ');
        }
        attrset(A_NORMAL);
        refresh();
}

unsigned top_screen_key(void)
{
        static const struct {
                int curses;
                enum top_key key;
        } keys[] = {
                { KEY_UP, TOP_KEY_UP },         { KEY_DOWN, TOP_KEY_DOWN },           { KEY_PPAGE, TOP_KEY_PAGE_UP },
                { KEY_NPAGE, TOP_KEY_PAGE_DOWN }, { KEY_HOME, TOP_KEY_HOME },         { KEY_END, TOP_KEY_END },
                { KEY_ENTER, TOP_KEY_ENTER },   { KEY_BACKSPACE, TOP_KEY_BACKSPACE },
        };
        wint_t typed = 0;
        int is = get_wch(&typed);

        for (size_t i = 0; is == KEY_CODE_YES && i < ARRAY_SIZE(keys); i++)
                if (keys[i].curses == (int)typed)
                        return keys[i].key;
        if (is == KEY_CODE_YES)
                return TOP_KEY_OTHER;
        if (is != OK)
                return TOP_KEY_NONE;
        return typed == '\n' || typed == '\r' ? TOP_KEY_ENTER
               : typed == 0x7f || typed == 8  ? TOP_KEY_BACKSPACE
               : typed == 0x1b                ? TOP_KEY_ESCAPE
                                              : (unsigned)typed;
}

void top_screen_renew(void)
{
        struct winsize size;

        if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 && size.ws_col > 0)
                resizeterm(size.ws_row, size.ws_col);
        reset_prog_mode(); /* after SIGSTOP the shell took it back */
        clearok(stdscr, TRUE);
}

void top_screen_stop(int stop)
{
        sigset_t only;

        sigemptyset(&only);
        sigaddset(&only, stop);
        endwin();
        raise(stop);
        sigprocmask(SIG_UNBLOCK, &only, NULL); /* stops here */
        sigprocmask(SIG_BLOCK, &only, NULL);
        top_screen_renew();
}
