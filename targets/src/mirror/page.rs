//! The mirror's two fixed pages: the list of its paths, and an HTML page with forms and links.

pub(super) const INDEX: &str = "\
/                                  this list
/echo, /any/...                    the request as text
/counter                           1, 2, 3 and so on, one per request to this server
/status/NNN                        this status
/redirect/N?code=&absolute         N redirects, then /echo
/redirect-to?url=&code=            one redirect
/cookies                           the cookies received
/cookies/set?NAME=VALUE&path=&domain=&max-age=&expires=&secure&httponly&samesite=&raw=&then=
                                   Set-Cookie lines, with these attributes; raw= is a whole line; then= redirects
/login                             a form; POST user= and password=secret sets a session cookie and redirects to /private
/private, /logout                  403 without the session; ends it
/gzip, /deflate?raw, /br           coded bodies; ?text= gives the text, ?n= repeats it
/chunked?n=&size=&pause=&extension&trailer
/json?n=, /xml, /html              documents
/text?text=&charset=&type=&undeclared&n=
/bytes/N                           N bytes
/header?NAME=VALUE                 these response headers
/delay/MS, /slow?n=&pause=         late; byte by byte
/continue/N                        N times 100 Continue first
/keep-alive-timeout?seconds=       Keep-Alive: timeout=1
/close, /close-later/MS            answers, then closes
/close-silently                    closes without an answer
/reset?after=, /stall?after=       RST, or nothing more, after this many body bytes (none: no answer at all)
/http10?keep, /no-length           old framing
/bad/NAME                          malformed answers: /bad lists them
";

pub(super) const HTML: &str = "\
<!DOCTYPE html>
<html><head><title>A page &amp; its forms</title><link rel=\"stylesheet\" href=\"/text?type=text/css\"></head>
<body>
<h1 id=\"top\">Shop</h1>
<form id=\"login\" action=\"/login\" method=\"post\">
<input type=\"hidden\" name=\"token\" value=\"t0k3n+/=\">
<input type=\"text\" name=\"user\" value=\"\"><input type=\"password\" name=\"password\">
<select name=\"lang\"><option value=\"de\">Deutsch</option><option value=\"zh\" selected>中文</option></select>
</form>
<form action=\"/echo\" method=\"get\"><input type='hidden' name='step' value='2'></form>
<ul><li><a href=\"/json?n=1&amp;x=y\">one</a></li><li><a class=\"next\" href=\"/redirect/1\">two</a></li><li><a href='https://example.com/'>three</a></li></ul>
<img src=\"/bytes/68\" alt=\"\"><script src=\"/text?type=text/javascript\"></script>
</body></html>
";
