# LWP::UserAgent of libwww-perl.
use strict;
use warnings;

my $clock;
BEGIN { *CORE::GLOBAL::time = sub { $clock // CORE::time() } }

use HTTP::Cookies;
use HTTP::Request;
use IO::Socket::IP;
use JSON::PP;
use LWP::UserAgent;
use Socket qw(getaddrinfo AI_NUMERICHOST AI_NUMERICSERV SOCK_STREAM);

delete $ENV{$_} for grep { /_proxy$/i || /^(?:SSL_CERT_(?:FILE|DIR)|HTTPS_.*|PERL_LWP_.*)$/ } keys %ENV;
$SIG{PIPE} = 'IGNORE';
$HTTP::Headers::TRANSLATE_UNDERSCORE = 0;

# Where the job connects for a host and port. The look-up answers that; the client's own code tries the addresses, and
# all else keeps the name.
my %routes;
{
    no warnings 'redefine';
    my $right = \&IO::Socket::IP::configure;
    *IO::Socket::IP::configure = sub {
        my ($self, $options) = @_;
        my %options = %$options;
        my $host = delete $options{PeerHost} // delete $options{PeerAddr};
        return $right->($self, $options) unless defined $host;
        delete $options{PeerAddr};
        $host =~ s/:(\d+)$// and $options{PeerPort} = $1 if $host =~ /^[^:]*:\d+$/ || $host =~ /^\[/;
        (my $name = lc $host) =~ s/^\[|\]$|\.$//g;
        my $port = delete $options{PeerPort} // delete $options{PeerService};
        my $targets = $routes{"$name:$port"};
        if (!$targets) { $@ = "$name:$port is not in the job"; return }
        my @found;
        for my $target (@$targets) {
            my ($address, $service) = $target =~ /^\[?(.*?)\]?:(\d+)$/;
            my $flags = { flags => AI_NUMERICHOST | AI_NUMERICSERV, socktype => SOCK_STREAM };
            push @found, (getaddrinfo($address, $service, $flags))[1];
        }
        return $right->($self, { %options, PeerAddrInfo => \@found });
    };
}

package Agent {
    our @ISA = ('LWP::UserAgent');

    # What the user would be asked for: only for the origin of the first request.
    sub get_basic_credentials {
        my ($self, $realm, $uri, $is_proxy) = @_;
        my $told = $self->{told} or return;
        return if $is_proxy || $uri->scheme . $uri->host_port ne $self->{origin};
        return map { utf8::encode(my $text = $_); $text } $told->{user}, $told->{password};
    }
}

sub leave { die { left => shift } }

sub open_client {
    my ($job) = @_;
    my $settings = $job->{settings} // {};
    my @known = qw(addresses certificate credentials decode follow headers proxy redirects resume);
    for my $name (keys %$settings) {
        leave("it has no setting like `$name`") unless grep { $_ eq $name } @known;
    }
    for my $name (keys %{ $settings->{redirects} // {} }) {
        leave("it has no setting for redirects like `$name`") unless $name eq 'limit' || $name eq 'downgrade';
    }
    my %keep = map { $_ => 1 } @{ $job->{keep} // [] };
    for my $name (keys %keep) {
        leave("it keeps no $name") unless $name eq 'connections' || $name eq 'cookies';
    }
    my ($told, $proxy) = @$settings{qw(credentials proxy)};
    leave('it chooses the scheme by the challenge') if $told && @{ $told->{schemes} // [] };
    leave('the adapter tells its proxy a name and Basic credentials only')
        if $proxy && ($proxy->{digest} || $proxy->{addresses});
    $clock = $job->{time};
    %routes = ();
    for my $endpoint (keys %{ $job->{connect} }) {
        my ($host, $port) = $endpoint =~ /^\[?(.*?)\]?:(\d+)$/;
        $host =~ s/\.$//;
        $routes{ lc($host) . ":$port" } = $job->{connect}{$endpoint};
    }
    my %secure = (verify_hostname => 1, SSL_ca_file => $job->{roots});
    @secure{qw(SSL_cert_file SSL_key_file)} = ($settings->{certificate}) x 2 if $settings->{certificate};
    my $client = Agent->new(
        timeout      => $job->{timeout} / 1000,
        ssl_opts     => \%secure,
        parse_head   => 0,
        keep_alive   => $keep{connections} ? 10 : 0,
        max_redirect => $settings->{redirects}{limit} // 7,
    );
    $client->requests_redirectable([]) unless $settings->{follow};
    $client->{told} = $told;
    $client->cookie_jar(HTTP::Cookies->new) if $keep{cookies};
    if ($proxy) {
        my $user = $proxy->{user} ? join(':', map { s/([^A-Za-z0-9])/sprintf '%%%02X', ord $1/ger } @$proxy{qw(user password)}) . '@' : '';
        $routes{ $proxy->{at} } = [$proxy->{at}];
        $client->proxy([qw(http https)], "http://$user$proxy->{at}");
    }
    $client->default_headers->push_header(@$_) for @{ $settings->{headers} // [] };
    $client->default_header('Accept-Encoding' => scalar HTTP::Message::decodable()) if $settings->{decode};
    return $client;
}

sub answer {
    my ($client, $job, $asked) = @_;
    leave('it switches to no other protocol') if $asked->{upgrade};
    $clock = $job->{time} + ($asked->{after} // 0) if defined $job->{time};
    my $found = eval {
        local $SIG{ALRM} = sub { die "the time of the request is over\n" };
        alarm(($job->{timeout} + 999) / 1000);
        my $request = HTTP::Request->new($asked->{method} // 'GET', $asked->{url});
        $client->{origin} //= $request->uri->scheme . $request->uri->host_port if $client->{told};
        $request->push_header(@$_) for @{ $asked->{headers} // [] };
        if (exists $asked->{body}) {
            my @parts = ($asked->{body});
            $request->content($asked->{stream} ? sub { shift(@parts) // '' } : $asked->{body});
        }
        my $found = $client->request($request);
        alarm 0;
        $found;
    };
    my $fault = $@;
    alarm 0;
    return failed($fault) unless $found;
    # How it tells that there is no response, or not all of one, or too many.
    my $warning = $found->header('Client-Warning') // '';
    return failed($found->content) if $warning eq 'Internal response';
    return failed($warning) if $warning =~ /^Redirect loop/;
    return failed($found->header('X-Died') // 'aborted') if $found->header('Client-Aborted');
    my $content = $job->{settings}{decode} ? $found->decoded_content(charset => 'none') : $found->content;
    return failed('the content cannot be decoded') unless defined $content;
    my (@fields, @pairs);
    @pairs = $found->headers->flatten;
    while (my ($name, $value) = splice @pairs, 0, 2) {
        push @fields, [$name, "$value"] unless $name =~ /^(?:Client-(?:Date|Peer|Response-Num|SSL-.*|Transfer-Encoding))$/i;
    }
    my $version = ($found->protocol // '') =~ m{^HTTP/(\d\.\d)$} ? $1 : undef;
    return {
        status => $found->code + 0, headers => \@fields, body => $content, url => $found->request->uri->as_string,
        (defined $found->message ? (reason => $found->message) : ()), ($version ? (version => $version) : ()),
    };
}

sub failed {
    my ($text) = @_;
    chomp $text;
    my $kind = $text =~ /time of the request|timeout|timed out/i ? 'timeout' : $text =~ /Connection refused/ ? 'refused' : undef;
    return { error => { text => $text, ($kind ? (kind => $kind) : ()) } };
}

my $json = JSON::PP->new->utf8->canonical;
open my $output, '>&', \*STDOUT or die $!;
open STDOUT, '>&', \*STDERR or die $!;
$output->autoflush(1);
my @codings = map { s/^x-//r } split /, */, scalar HTTP::Message::decodable();
@codings = grep { /^(?:gzip|deflate|br)$/ } do { my %seen; grep { !$seen{$_}++ } @codings };
print $output $json->encode({ contract => 1, name => 'LWP', version => "$LWP::UserAgent::VERSION", codings => \@codings }), "\n";
while (my $line = <STDIN>) {
    my $job = $json->decode($line);
    my $reply = eval {
        my $client = open_client($job);
        { results => [map { answer($client, $job, $_) } @{ $job->{requests} }] };
    };
    $reply //= ref $@ ? { left => $@->{left} } : { broken => "$@" };
    print $output $json->encode({ id => $job->{id}, %$reply }), "\n";
}
